// Tests that an Exchange carries the bytes that it records: a symbolic size that differs from the message is refused.
#include "algorithms/exchange/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "algorithms/one_step.hpp"
#include "compress/registry.hpp"

namespace dadsim::algorithms {
namespace {

using namespace step::extent;
using test::OneStep;

/// An algorithm that exchanges each layer by `share`, with messages that may differ from the recorded bytes.
class Wrong final : public Algorithm {
 public:
  using Share = std::function<void(TrainingStep& step, std::size_t l)>;
  explicit Wrong(Share share) : share_(std::move(share)) {}
  void run(TrainingStep& step) override {
    step.forward();
    step.backward([&](std::size_t l) {
      share_(step, l);
      step.backpropagate(l);
    });
  }

 private:
  Share share_;
};

void run_wrong(const Wrong::Share& share, spec::ExchangeMode mode, const spec::CompressSpec& compress = {}) {
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{20, spec::Activation::relu, true},
                  spec::DenseSpec{5, spec::Activation::identity, true}};
  const models::Network network(12, model, 3);
  models::Samples samples;
  samples.features = models::Matrix::Constant(8, 12, 0.5F);
  samples.labels = {0, 1, 2, 3, 4, 0, 1, 2};
  TrainingStep step(network, mode, 3, compress);
  step.begin(0, samples, {{0, 1, 2}, {3, 4, 5, 6, 7}});
  Wrong(share).run(step);
}

class ByMode : public testing::TestWithParam<spec::ExchangeMode> {};

TEST_P(ByMode, APartIsAsLongAsItSays) {
  const auto inputs = [](TrainingStep& step, std::size_t l) {
    return [&step, l](std::size_t s) { return step.input(s, l); };
  };
  EXPECT_NO_THROW(run_wrong(
      [&](TrainingStep& step, std::size_t l) {
        step.exchange().combine({rows(), {{in(), inputs(step, l)}}}, concatenation());
      },
      GetParam()));
  for (const step::Expression& width : {out(), in() + bias(), 2.0 * in(), step::Expression(1.0)}) {
    EXPECT_THROW(run_wrong(
                     [&](TrainingStep& step, std::size_t l) {
                       step.exchange().combine({rows(), {{width, inputs(step, l)}}}, concatenation());
                     },
                     GetParam()),
                 std::logic_error)
        << width.to_string();
  }
}

// Integers take as many bytes as fp32, and a 16-bit run halves floats only.
TEST_P(ByMode, WholeNumbersAreNotSentAsNumbers) {
  const std::vector<std::int32_t> indices(4, 1);
  EXPECT_NO_THROW(run_wrong(
      [&](TrainingStep& step, std::size_t) {
        step.exchange().combine(
            {4.0, {{1.0, nullptr, [&](std::size_t) { return std::span<const std::int32_t>(indices); }}}},
            concatenation());
      },
      GetParam()));
  EXPECT_THROW(run_wrong(
                   [&](TrainingStep& step, std::size_t) {
                     step.exchange().combine(
                         {5.0, {{1.0, nullptr, [&](std::size_t) { return std::span<const std::int32_t>(indices); }}}},
                         concatenation());
                   },
                   GetParam()),
               std::logic_error);
}

TEST_P(ByMode, WhatIsMadeOfAllIsAsLongAsItSays) {
  EXPECT_THROW(run_wrong(
                   [&](TrainingStep& step, std::size_t l) {
                     const auto inputs = [&step, l](std::size_t s) { return step.input(s, l); };
                     const Combination half = [](Rows all, step::Role) {
                       all.parts[0] = models::Matrix(all.parts[0].topRows(1));  // the record has all rows, the message
                                                                                // only one
                       return all;
                     };
                     // Among peers, this mistake sends no additional bytes, so it stays undetected.
                     if (step.exchange().mode() == spec::ExchangeMode::peer) throw std::logic_error("no more sent");
                     step.exchange().combine({rows(), {{in(), inputs}}}, half);
                   },
                   GetParam()),
               std::logic_error);
}

TEST_P(ByMode, SumsAreOfTheSizeTheySay) {
  EXPECT_THROW(run_wrong(
                   [&](TrainingStep& step, std::size_t l) {
                     step.exchange().sum_as_it_is(in() * out(), models::Matrix::Zero(3, static_cast<Eigen::Index>(l)));
                   },
                   GetParam()),
               std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(Exchange, ByMode, testing::Values(spec::ExchangeMode::aggregator, spec::ExchangeMode::peer),
                         [](const auto& param) { return std::string(to_string(param.param)); });

/// Received numbers were encoded and decoded, so with fp16 all of them are fp16 numbers.
TEST(Exchange, NoNumberArrivesThatWasNotSent) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    run_wrong(
        [&](TrainingStep& step, std::size_t) {
          const models::Matrix third = models::Matrix::Constant(1, 1, 1.0F / 3);
          Pending<Rows> all = step.exchange().combine(
              {1.0, {{1.0, [&](std::size_t) { return models::ConstBlock(third); }}}}, concatenation());
          for (const float x : all.wait()[0].reshaped()) EXPECT_EQ(x, 0.333251953125F);
        },
        mode, {.method = "fp16"});
  }
}

/// An algorithm and the encoding of its matrices.
struct Wired {
  std::string algorithm, method;

  friend void PrintTo(const Wired& wired, std::ostream* out) { *out << wired.algorithm << ' ' << wired.method; }
};

/// Returns OneStep::relative_difference() from a gradient of zeros.
double difference_of_nothing(const OneStep& step) {
  double worst = 1;
  for (const models::LayerGradient& gradient : step.gradient.matrices) {
    if (gradient.bias.size() == 0) continue;
    worst = std::max<double>(worst, gradient.bias.cwiseAbs().maxCoeff() / gradient.weight.cwiseAbs().maxCoeff());
  }
  return worst;
}

/// Returns the cosine of the angle between two gradients, over all matrices.
double cosine(const OneStep& a, const OneStep& b) {
  double product = 0;
  double of_a = 0;
  double of_b = 0;
  for (std::size_t l = 0; l < a.gradient.matrices.size(); ++l) {
    const models::Matrix& ours = a.gradient.matrices[l].weight;
    const models::Matrix& theirs = b.gradient.matrices[l].weight;
    product += static_cast<double>(ours.cwiseProduct(theirs).sum());
    of_a += static_cast<double>(ours.squaredNorm());
    of_b += static_cast<double>(theirs.squaredNorm());
  }
  return product / std::sqrt(of_a * of_b);
}

class OnTheWire : public testing::TestWithParam<Wired> {};

/// Returns parameters with which a compressible algorithm itself loses nothing; empty if it cannot be compressed.
std::optional<spec::ParameterValues> to_be_compressed(const SynchronousMethod& info) {
  const auto may_be = [&](const spec::ParameterValues& given) {
    return info.compresses(run_of(info, given).parameters);
  };
  // Lossless factors are no smaller than the matrix, so the matrix would be sent, unencoded. The defaults send factors.
  if (const auto least = info.lossless.find("least-compression"); least != info.lossless.end() && least->second != "0")
    return spec::ParameterValues{};
  if (may_be(info.lossless)) return info.lossless;
  for (const spec::ParameterSpec& parameter : info.parameters) {
    for (const std::string& choice : parameter.choices) {
      spec::ParameterValues values = info.lossless;
      values[parameter.name] = choice;
      if (may_be(values)) return values;
    }
  }
  return std::nullopt;
}

TEST_P(OnTheWire, BytesAreThoseOfTheEncodingAndGradientsNearTheExactOnes) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    OneStep::Setup setup;
    setup.rows = {5, 3, 6};
    setup.exchange = mode;
    const SynchronousMethod& info = algorithm_registry().at(GetParam().algorithm);
    setup.parameters = *to_be_compressed(info);
    const OneStep plain(GetParam().algorithm, setup);
    const compress::CompressorInfo& compressor = compress::compressors().at(GetParam().method);
    setup.compress.method = compressor.name;
    setup.compress.parameters = default_parameters(compressor.parameters);
    const OneStep wired(GetParam().algorithm, setup);
    EXPECT_EQ(wired.recorded().over, wired.uplink_bytes);
    EXPECT_EQ(wired.recorded().down, wired.downlink_bytes);
    for (std::size_t s = 0; s < 3; ++s) EXPECT_LT(wired.uplink_bytes[s], 0.8 * plain.uplink_bytes[s]);
    const double difference = wired.relative_difference(plain);
    EXPECT_GT(difference, 0) << "really rounded, or left out";
    // Stochastic rounding to powers of two has a root-mean-square error of 27 % per number. Gradients are rounded once,
    // dAD's factors twice. Factors of rank-dAD are rounded in both directions, and the factorisation starts from
    // rounded numbers.
    const std::map<std::string, double> most{{"e3m0", 1.5}, {"int8", 0.2}, {"fp16", 0.03}, {"bf16", 0.03}};
    if (compressor.family == "sparsification") {
      EXPECT_LE(difference, 1.0001 * difference_of_nothing(plain)) << "no worse than if nothing had been sent";
    } else if (const auto known = most.find(compressor.name); known != most.end()) {
      EXPECT_LT(difference, known->second) << to_string(mode);
    } else {
      // With a few levels or one bit, single numbers are wrong, but the gradient's direction is kept.
      EXPECT_GT(cosine(wired, plain), 0.2) << to_string(mode);
    }
    EXPECT_EQ(OneStep(GetParam().algorithm, setup).relative_difference(wired), 0) << "same seed, same bits";
  }
}

spec::ParameterValues asked_to_keep_all(const compress::CompressorInfo& info) {
  spec::ParameterValues values = default_parameters(info.parameters);
  values["fraction"] = "1";
  if (values.contains("values")) values["values"] = "fp32";  // values are not encoded
  return values;
}

/// Returns true if a sparsifier can be set to send all numbers of a matrix; a threshold of at least the mean cannot.
bool keeps_all(const compress::CompressorInfo& info) {
  if (info.family != "sparsification") return false;
  models::Matrix numbers(1, 64);
  for (Eigen::Index i = 0; i < numbers.size(); ++i) numbers(i) = static_cast<float>(i + 1);
  compress::Encoder encoder;
  return info.make(asked_to_keep_all(info))->encode(numbers, {}, encoder) == numbers.size();
}

// A sparsifier loses only the numbers that it leaves out. If it keeps all, every number arrives at its place.
class KeepsAllOnTheWire : public OnTheWire {};

TEST_P(KeepsAllOnTheWire, ASparsifierThatKeepsAllLosesNothing) {
  const compress::CompressorInfo& compressor = compress::compressors().at(GetParam().method);
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    OneStep::Setup setup;
    setup.rows = {5, 3, 6};
    setup.exchange = mode;
    setup.parameters = *to_be_compressed(algorithm_registry().at(GetParam().algorithm));
    const OneStep plain(GetParam().algorithm, setup);
    setup.compress.method = compressor.name;
    setup.compress.parameters = asked_to_keep_all(compressor);
    const OneStep wired(GetParam().algorithm, setup);
    // The two runs orthonormalise in a different order: each site's gradient, or their sum.
    EXPECT_LT(wired.relative_difference(plain), 1e-5) << to_string(mode);
  }
}

/// Returns all compressible algorithms with all lossy compressors to which `applies` applies.
std::vector<Wired> wired(bool (*applies)(const compress::CompressorInfo&)) {
  std::vector<Wired> all;
  for (const SynchronousMethod& info : algorithm_registry().all()) {
    if (info.sharing != Sharing::one_network) continue;
    if (!to_be_compressed(info)) continue;
    for (const compress::CompressorInfo& compressor : compress::compressors().all()) {
      if (compressor.has_momentum && !info.sends_gradients) continue;
      if (!compressor.lossless && applies(compressor)) all.push_back({info.name, compressor.name});
    }
  }
  return all;
}

const auto kNamed = [](const auto& param) {
  std::string name = param.param.algorithm + "_" + param.param.method;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
};

INSTANTIATE_TEST_SUITE_P(Registries, OnTheWire,
                         testing::ValuesIn(wired([](const compress::CompressorInfo&) { return true; })), kNamed);
INSTANTIATE_TEST_SUITE_P(Registries, KeepsAllOnTheWire, testing::ValuesIn(wired(keeps_all)), kNamed);

// All values received up to step t, plus the error e_t, equal all values to be sent up to t.
TEST(Wire, AMemorySendsLaterWhatWasLost) {
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{5, spec::Activation::identity, false}};
  const models::Network network(12, model, 3);
  models::Samples samples;
  samples.features = models::Matrix::Constant(4, 12, 0.3F);
  samples.labels = {0, 1, 2, 3};
  for (const bool memory : {false, true}) {
    TrainingStep step(network, spec::ExchangeMode::peer, 3,
                      {.method = "int8", .parameters = {{"rounding", "nearest"}}, .memory = memory});
    models::Matrix arrived = models::Matrix::Zero(5, 12);
    models::Matrix sent = models::Matrix::Zero(5, 12);
    for (std::int64_t t = 0; t < 50; ++t) {
      step.begin(t, samples, {{0, 1}, {2, 3}});
      const std::unique_ptr<Algorithm> sharing = make_algorithm(algorithm_registry().at("gradient-sharing"));
      sharing->run(step);
      arrived += step.gradient(0).weight;
      for (std::size_t s = 0; s < 2; ++s) sent += step.delta(s, 0).transpose() * step.input(s, 0);
    }
    const float lost = (arrived - sent).cwiseAbs().maxCoeff() / sent.cwiseAbs().maxCoeff();
    if (memory) {
      EXPECT_LT(lost, 1.0F / 127 / 50 * 2) << "no more than the last step's rounding";
    } else {
      EXPECT_GT(lost, 1e-4F) << "roundings that are alike add up";
    }
  }
}

}  // namespace
}  // namespace dadsim::algorithms
