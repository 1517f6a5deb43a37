// Tests messages and memories of sparsifiers.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <limits>

#include "compress/largest_entries.hpp"
#include "compress/registry.hpp"

namespace dadsim::compress {
namespace {

models::Matrix normal_row(Eigen::Index numbers, std::uint32_t stream) {
  RandomStream random(5, Purpose::test, stream);
  boost::random::normal_distribution<float> normal;
  models::Matrix row(1, numbers);
  for (float& x : row.reshaped()) x = normal(random);
  return row;
}

std::unique_ptr<Compressor> sparsifier(const std::string& name, const spec::ParameterValues& chosen = {}) {
  const CompressorInfo& info = compressors().at(name);
  spec::ParameterValues values = default_parameters(info.parameters);
  for (const auto& [parameter, value] : chosen) values.at(parameter) = value;
  return info.make(values);
}

models::Matrix behind(const Compressor& compressor, const models::Matrix& numbers, const EncodeContext& context) {
  Encoder encoder;
  compressor.encode(numbers, context, encoder);
  const Message message = encoder.take();
  models::Matrix arrived(numbers.rows(), numbers.cols());
  Decoder decoder(message);
  // The receiver does not know the message's number, nor the sender's state.
  compressor.decode(decoder, {context.seed, context.step, 0, context.matrix}, arrived);
  return arrived;
}

EncodeContext message_of(std::uint32_t site, std::uint32_t step = 0, std::uint32_t matrix = 0) {
  return {11, step, site, matrix};
}

TEST(ExactTopK, SendsWhatALongSortWouldSend) {
  const models::Matrix numbers = normal_row(1003, 0);
  models::Matrix rest = numbers;
  const KeptEntries kept = take_largest(rest, 101);  // ⌈0.1 · 1003⌉ numbers
  models::Matrix expected = models::Matrix::Zero(1, 1003);
  add_kept(kept.values, kept.indices, expected);
  EXPECT_EQ(behind(*sparsifier("top-k", {{"fraction", "0.1"}}), numbers, message_of(0)), expected);
  EXPECT_LE(rest.cwiseAbs().maxCoeff(), kept.values.cwiseAbs().minCoeff());
}

TEST(Sparsifiers, SendAllIfTheyAreAskedTo) {
  const models::Matrix numbers = normal_row(1203, 3);
  for (const char* name : {"top-k", "random-k", "random-block", "sidco", "dgc"}) {
    EXPECT_EQ(behind(*sparsifier(name, {{"fraction", "1"}}), numbers, message_of(0)), numbers) << name;
  }
  for (const char* fit : {"pareto", "gamma"}) {
    EXPECT_EQ(behind(*sparsifier("sidco", {{"fraction", "1"}, {"fit", fit}}), numbers, message_of(0)), numbers) << fit;
  }
}

class Coordinates : public testing::TestWithParam<const char*> {};

TEST_P(Coordinates, AreTheSameAtAllSitesAndOthersInEveryStepAndMatrix) {
  const auto shared = sparsifier(GetParam(), {{"fraction", "0.1"}});
  models::Matrix sum = models::Matrix::Zero(1, 500);
  models::Matrix sum_of_sparse = sum;
  for (std::uint32_t site = 0; site < 5; ++site) {
    const models::Matrix own = normal_row(500, site);
    sum += own;
    sum_of_sparse += behind(*shared, own, message_of(site));
  }
  EXPECT_EQ(sum_of_sparse, behind(*shared, sum, message_of(9))) << "the sum of sparse is the sparse of the sum";
  const models::Matrix ones = models::Matrix::Ones(1, 500);
  EXPECT_NE(behind(*shared, ones, message_of(0, 1)), behind(*shared, ones, message_of(0, 2)));
  EXPECT_NE(behind(*shared, ones, message_of(0, 1, 1)), behind(*shared, ones, message_of(0, 1, 2)));
  const auto own = sparsifier(GetParam(), {{"fraction", "0.1"}, {"coordinates", "own"}});
  EXPECT_NE(behind(*own, ones, message_of(1)), behind(*own, ones, message_of(2)));
}

TEST_P(Coordinates, TravelAsASeedAtMost) {
  const models::Matrix numbers = normal_row(500, 1);
  for (const auto& [coordinates, bytes] : {std::pair<const char*, int>{"shared", 200}, {"own", 208}}) {
    Encoder encoder;
    sparsifier(GetParam(), {{"fraction", "0.1"}, {"coordinates", coordinates}})
        ->encode(numbers, message_of(1), encoder);
    EXPECT_EQ(encoder.take().size(), bytes) << coordinates;
  }
}

TEST_P(Coordinates, AreAllOfFewNumbers) {
  const auto compressor = sparsifier(GetParam(), {{"fraction", "0.1"}, {"whole-below", "12"}});
  const models::Matrix few = normal_row(12, 1), more = normal_row(13, 2);
  EXPECT_EQ(behind(*compressor, few, message_of(1)), few);
  EXPECT_EQ((behind(*compressor, more, message_of(1)).array() != 0).count(), 2);
  for (const std::int64_t n : {0, 1, 12, 13, 100}) {
    Encoder encoder;
    const models::Matrix numbers = normal_row(n, 3);
    const std::int64_t kept = n == 0 ? 0 : compressor->encode(numbers, message_of(1), encoder);
    const step::Expression said = compressor->size({static_cast<double>(n)}).front().elements;
    const spec::LayerShape nothing;
    const step::StepSizes sizes;
    EXPECT_EQ(said.evaluate({&nothing, &sizes, -1}), kept) << n;
  }
}

TEST_P(Coordinates, ScaledAreRightOnAverageAndEachAsLikelyAsAnother) {
  models::Matrix numbers(1, 7);
  numbers << 1, -2, 3, -4, 5, -6, 7;
  const double share = 2.0 / 7;
  for (const char* coordinates : {"shared", "own"}) {
    const auto compressor =
        sparsifier(GetParam(), {{"fraction", "0.28"}, {"coordinates", coordinates}, {"scale", "unbiased"}});
    models::MatrixOf<double> mean = models::MatrixOf<double>::Zero(1, 7);
    constexpr int kDraws = 20000;
    for (std::uint32_t draw = 0; draw < kDraws; ++draw) {
      const models::Matrix arrived = behind(*compressor, numbers, message_of(draw, draw));
      EXPECT_EQ((arrived.array() != 0).count(), 2);
      mean += arrived.cast<double>() / kDraws;
    }
    for (Eigen::Index i = 0; i < 7; ++i) {
      // A number x arrives as x / p with probability p, which has the variance x² (1 − p) / p.
      const double deviation = std::abs(numbers(i)) * std::sqrt((1 - share) / share / kDraws);
      EXPECT_NEAR(mean(i), numbers(i), 5 * deviation) << coordinates << ' ' << i;
    }
  }
}

TEST_P(Coordinates, ASumOfScaledNumbersIsNotScaledAgain) {
  const auto compressor = sparsifier(GetParam(), {{"fraction", "0.1"}, {"scale", "unbiased"}});
  EncodeContext sum = message_of(3);
  sum.sum = true;
  const models::Matrix once = behind(*compressor, normal_row(500, 1), message_of(1));
  EXPECT_EQ(behind(*compressor, once, sum), once);
}

TEST_P(Coordinates, AreAllOfAMatrixWhereAllIsKept) {
  const models::Matrix numbers = normal_row(37, 1);
  EXPECT_EQ(behind(*sparsifier(GetParam(), {{"fraction", "1"}}), numbers, message_of(1)), numbers);
}

INSTANTIATE_TEST_SUITE_P(Random, Coordinates, testing::Values("random-k", "random-block"),
                         [](const auto& param) { return std::string(param.param) == "random-k" ? "k" : "block"; });

TEST(RandomBlock, GoesOverTheEndToTheBeginning) {
  const models::Matrix ones = models::Matrix::Ones(1, 10);
  const auto compressor = sparsifier("random-block", {{"fraction", "0.4"}});
  int wrapped = 0;
  for (std::uint32_t step = 0; step < 50; ++step) {
    const models::Matrix arrived = behind(*compressor, ones, message_of(0, step));
    EXPECT_EQ(arrived.sum(), 4);
    int begins = 0;  // number of blocks: sent positions after a position that is not sent
    for (Eigen::Index i = 0; i < 10; ++i) begins += arrived(i) == 1 && arrived((i + 9) % 10) == 0 ? 1 : 0;
    EXPECT_EQ(begins, 1) << "one block";
    wrapped += arrived(0) == 1 && arrived(9) == 1 ? 1 : 0;
  }
  EXPECT_GT(wrapped, 5);
  EXPECT_LT(wrapped, 30) << "three starts of ten";
}

/// Returns every sparsifier that requires a memory, with default parameters and with each choice changed.
std::vector<std::pair<std::string, spec::ParameterValues>> biased_sparsifiers() {
  std::vector<std::pair<std::string, spec::ParameterValues>> all;
  for (const CompressorInfo& info : compressors().all()) {
    if (info.family != "sparsification") continue;
    spec::ParameterValues values = default_parameters(info.parameters);
    // Momentum is left out here; a later test compares it with SGD's.
    if (info.has_momentum) values["momentum"] = "0";
    std::vector<spec::ParameterValues> variants{values};
    for (const spec::ParameterSpec& parameter : info.parameters) {
      for (const std::string& value : parameter.choices) {
        if (value == parameter.default_value || parameter.name == "nesterov") continue;
        variants.push_back(values);
        variants.back()[parameter.name] = value;
      }
    }
    for (spec::ParameterValues& variant : variants) {
      if (info.biased(variant)) all.emplace_back(info.name, std::move(variant));
    }
  }
  return all;
}

TEST(ErrorMemory, WhatWasSentAndWhatIsHeldIsAllThereWas) {
  std::size_t with_memory = 0;
  for (const auto& [name, values] : biased_sparsifiers()) {
    const auto compressor = compressors().at(name).make(values);
    const auto memory = compressor->make_memory();
    const auto state = compressor->make_state();
    models::MatrixOf<double> sent = models::MatrixOf<double>::Zero(1, 3000);
    models::MatrixOf<double> wanted = sent;
    for (std::uint32_t step = 0; step < 60; ++step) {
      const models::Matrix gradient = normal_row(3000, step);
      wanted += gradient.cast<double>();
      const models::Matrix both = memory->add(gradient);
      const models::Matrix arrived = behind(*compressor, both, {11, step, 0, 0, state.get()});
      sent += arrived.cast<double>();
      memory->keep(both, arrived);
      ASSERT_LT((sent + memory->held().cast<double>() - wanted).norm(), 1e-6 * wanted.norm()) << name << ' ' << step;
    }
    EXPECT_GT(memory->held().norm(), 0.1 * wanted.norm()) << name;
    EXPECT_GT(sent.norm(), 0) << name;
    ++with_memory;
  }
  EXPECT_GE(with_memory, 12U);
}

TEST(MomentumMemory, MasksMomentumWhereNumbersWereSent) {
  MomentumMemory memory({.momentum = 0.5F, .nesterov = false});
  const auto row = [](float a, float b) { return (models::Matrix(1, 2) << a, b).finished(); };
  EXPECT_EQ(memory.add(row(1, 2)), row(1, 2));
  memory.keep(row(1, 2), row(0, 2));
  EXPECT_EQ(memory.held(), row(1, 0));
  // u = (0.5 · 1 + 1, 0 + 1), v = (1 + 1.5, 0 + 1)
  EXPECT_EQ(memory.add(row(1, 1)), row(2.5F, 1));
  memory.keep(row(2.5F, 1), row(2.5F, 0));
  // u = (0 + 4, 0.5 + 4), v = (4, 1 + 4.5)
  EXPECT_EQ(memory.add(row(4, 4)), row(4, 5.5F));

  MomentumMemory unmasked({.momentum = 0.5F, .nesterov = false, .masking = false});
  EXPECT_EQ(unmasked.add(row(1, 2)), row(1, 2));
  unmasked.keep(row(1, 2), row(0, 2));
  EXPECT_EQ(unmasked.add(row(1, 1)), row(2.5F, 2)) << "u = (1.5, 2), v = (1 + 1.5, 0 + 2)";

  MomentumMemory nesterov({.momentum = 0.5F, .nesterov = true});
  EXPECT_EQ(nesterov.add(row(2, 4)), row(3, 6)) << "u = m g, v = u + g";

  MomentumMemory clipped({.momentum = 0, .nesterov = false, .masking = true, .clip = 1});
  EXPECT_LT((clipped.add(row(3, 4)) - row(0.6F, 0.8F)).norm(), 1e-6F);
  clipped.keep(row(0.6F, 0.8F), row(0.6F, 0.8F));
  EXPECT_EQ(clipped.add(row(0.3F, 0.4F)), row(0.3F, 0.4F)) << "within the threshold";
}

// A sum over sites is clipped at √sites times the limit for one site's gradient (arXiv 1712.01887, section 3.2).
TEST(Dgc, RemembersSumsThatGoUncompressedWithoutMasks) {
  const CompressorInfo& info = compressors().at("dgc");
  spec::ParameterValues values = default_parameters(info.parameters);
  values["momentum"] = "0.5";
  values["clip"] = "1";
  const auto memory = info.make(values)->make_memory_of_uncompressed(4);
  const auto applied = [&](float gradient) {
    const models::Matrix now = memory->add(models::Matrix::Constant(1, 1, gradient));
    memory->keep(now, now);
    return now(0);
  };
  EXPECT_FLOAT_EQ(applied(1), 1);
  EXPECT_FLOAT_EQ(applied(4), 0.5F + 2);
  EXPECT_FLOAT_EQ(applied(0), 1.25F) << "nothing was masked, and nothing waits";
  EXPECT_EQ(compressors()
                .at("top-k")
                .make(default_parameters(compressors().at("top-k").parameters))
                ->make_memory_of_uncompressed(4),
            nullptr);
}

TEST(Dgc, SendsLessFromQuarterToQuarterOfItsWarmUp) {
  const auto compressor = sparsifier("dgc", {{"warm-up-steps", "8"}});
  const models::Matrix numbers = normal_row(50'000, 1);
  const auto share = [&](std::uint32_t step) {
    Encoder encoder;
    return static_cast<double>(compressor->encode(numbers, {11, step, 0, 0, nullptr}, encoder)) / 50'000;
  };
  for (const auto& [step, fraction] :
       {std::pair<std::uint32_t, double>{0, 0.25}, {1, 0.25}, {2, 0.0625}, {4, 0.015625}, {7, 0.004}, {8, 0.001}}) {
    // The threshold is the smallest of the largest 2 … 125 numbers of a sample.
    EXPECT_LE(share(step), fraction * 4 / 3 + 1e-9) << step;
    EXPECT_GT(share(step), fraction * 0.25) << step;
  }
}

TEST(Sparsifiers, DoNotHideANumberThatIsNoneOrInfinite) {
  for (const CompressorInfo& info : compressors().all()) {
    if (info.family != "sparsification") continue;
    const auto compressor = sparsifier(info.name);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
      models::Matrix numbers = normal_row(5000, 1);
      numbers(1234) = bad;
      EXPECT_FALSE(std::isfinite(behind(*compressor, numbers, message_of(0)).sum())) << info.name << ' ' << bad;
    }
  }
}

}  // namespace
}  // namespace dadsim::compress
