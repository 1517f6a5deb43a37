// Tests laws of every registered compressor. A newly registered compressor is tested too.
#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "compress/registry.hpp"
#include "held_to_laws.hpp"
#include "support/random.hpp"

namespace dadsim::compress {
namespace {

models::Matrix normal_matrix(Eigen::Index rows, Eigen::Index columns) {
  RandomStream random(5, Purpose::test);
  boost::random::normal_distribution<float> normal;
  models::Matrix matrix(rows, columns);
  for (float& x : matrix.reshaped()) x = normal(random);
  return matrix;
}

/// A compressor with default parameters, or with one parameter changed.
struct Variant {
  std::string name;
  spec::ParameterValues chosen;
};

std::string to_string(const Variant& variant) {
  std::string name = variant.name;
  for (const auto& [parameter, value] : variant.chosen) name += "_" + parameter + "_" + value;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

void PrintTo(const Variant& variant, std::ostream* out) { *out << to_string(variant); }

class CompressorLaws : public testing::TestWithParam<Variant> {
 protected:
  CompressorLaws() : info_(compressors().at(GetParam().name)) {
    values_ = default_parameters(info_.parameters);
    for (const auto& [name, value] : GetParam().chosen) values_[name] = value;
    compressor_ = info_.make(values_);
  }

  EncodeContext context(std::uint32_t stream) const { return {7, 0, stream, 0, state_.get()}; }
  Message encode(const models::Matrix& numbers, std::uint32_t stream = 0) {
    // Laws about a single message must not depend on earlier messages, so the state is new.
    state_ = compressor_->make_state();
    Encoder encoder;
    kept_ = compressor_->encode(numbers, context(stream), encoder);
    return encoder.take();
  }
  models::Matrix sent(const models::Matrix& numbers, std::uint32_t stream = 0) {
    const Message message = encode(numbers, stream);
    models::Matrix arrived(numbers.rows(), numbers.cols());
    Decoder decoder(message);
    compressor_->decode(decoder, context(stream), arrived);
    return arrived;
  }

  const CompressorInfo& info_;
  spec::ParameterValues values_;
  std::unique_ptr<Compressor> compressor_;
  std::unique_ptr<CompressorState> state_;
  std::int64_t kept_ = 0;
};

TEST_P(CompressorLaws, TheSizeInSymbolsIsTheLengthOfTheBytes) {
  for (const auto& [rows, columns] : {std::pair<Eigen::Index, Eigen::Index>{1, 1}, {3, 7}, {64, 33}, {0, 9}}) {
    const models::Matrix numbers = normal_matrix(rows, columns);
    const Message message = encode(numbers);
    const spec::LayerShape layer;
    const step::StepSizes sizes{{}, {{share_of(kept_, numbers.size())}}};
    const step::Expression all(static_cast<double>(numbers.size()));
    const Amount amount = info_.adapts ? Amount{all, kept_of(step::extent::slot(0), all)} : Amount{all};
    double said = 0;
    for (const step::Payload& payload : compressor_->size(amount)) {
      said += payload.bytes({&layer, &sizes, -1});
    }
    EXPECT_EQ(static_cast<double>(message.size()), said) << rows << " × " << columns;
  }
}

/// Laws of compressors that send every number with less precision.
class QuantiserLaws : public CompressorLaws {};

TEST_P(QuantiserLaws, WhatArrivesIsNearWhatWasSent) {
  const models::Matrix numbers = normal_matrix(40, 50);
  const float worst = (sent(numbers) - numbers).cwiseAbs().maxCoeff() / numbers.cwiseAbs().maxCoeff();
  if (info_.lossless) {
    EXPECT_EQ(worst, 0.0F);
    return;
  }
  EXPECT_GT(worst, 0.0F) << "nothing was rounded";
  if (info_.biased(values_)) {
    // A compressor with a smaller error than its input keeps the error in a memory bounded.
    EXPECT_LT((sent(numbers) - numbers).squaredNorm(), numbers.squaredNorm());
    return;
  }
  // With few levels, a single message may exceed the stated error, but the mean of many messages is right.
  constexpr std::uint32_t kMessages = 64;
  models::Matrix mean = models::Matrix::Zero(40, 50);
  for (std::uint32_t i = 0; i < kMessages; ++i) mean += sent(numbers, i) / static_cast<float>(kMessages);
  EXPECT_LT((mean - numbers).squaredNorm(), 0.1F * numbers.squaredNorm());
}

/// Laws of compressors that leave numbers out.
class SparsifierLaws : public CompressorLaws {};

TEST_P(SparsifierLaws, WhatASparsifierSendsArrivesAndNothingElseDoes) {
  const models::Matrix numbers = normal_matrix(40, 50);
  const models::Matrix arrived = sent(numbers);
  const Eigen::Index places = (arrived.array() != 0).count();
  EXPECT_EQ(places, kept_) << "numbers that were sent";
  EXPECT_GT(places, 0);
  EXPECT_LT(places, numbers.size()) << "nothing was left out";
  // An unbiased compressor multiplies the sent numbers by total ÷ sent.
  const float scale = info_.biased(values_) ? 1.0F : static_cast<float>(numbers.size()) / static_cast<float>(places);
  const auto values = values_.find("values");  // some compressors also send positions, and values in few bits
  const bool rounds = values != values_.end() && values->second != "fp32";
  for (Eigen::Index i = 0; i < numbers.size(); ++i) {
    const float arrives = arrived.data()[i];
    if (rounds) {
      EXPECT_GE(arrives * numbers.data()[i], 0);
      continue;
    }
    EXPECT_TRUE(arrives == 0 || arrives == scale * numbers.data()[i]) << arrives << " of " << numbers.data()[i];
  }
  if (info_.biased(values_)) {
    EXPECT_LT((arrived - numbers).norm(), numbers.norm()) << "a contraction";
  }
}

TEST_P(CompressorLaws, SameStreamSameBits) {
  const models::Matrix numbers = normal_matrix(9, 11);
  EXPECT_EQ(sent(numbers, 3), sent(numbers, 3));
}

TEST_P(CompressorLaws, ZerosStayZeros) {
  const models::Matrix zeros = models::Matrix::Zero(5, 6);
  EXPECT_EQ(sent(zeros), zeros);
}

TEST_P(CompressorLaws, NoNumberStaysNone) {
  models::Matrix numbers = normal_matrix(4, 4);
  numbers(2, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(sent(numbers).sum())) << "divergence is not hidden";
}

TEST_P(CompressorLaws, AFewColumnsOfAMatrixToo) {
  models::Matrix whole = normal_matrix(6, 10);
  const models::Matrix part = whole.middleCols(2, 3);
  Encoder encoder;
  state_ = compressor_->make_state();
  compressor_->encode(models::ConstBlock(whole.middleCols(2, 3)), context(0), encoder);
  const Message message = encoder.take();
  models::Matrix into = models::Matrix::Zero(6, 10);
  Decoder decoder(message);
  compressor_->decode(decoder, context(0), models::MutableBlock(into.middleCols(4, 3)));
  EXPECT_EQ(models::Matrix(into.middleCols(4, 3)), sent(part));
  EXPECT_EQ(into.leftCols(4).cwiseAbs().maxCoeff(), 0.0F);
}

std::vector<Variant> variants(bool (*applies)(const CompressorInfo&)) {
  std::vector<Variant> all;
  for (const CompressorInfo& info : compressors().all()) {
    if (!test::is_held_to_laws(info.name) || !applies(info)) continue;
    all.push_back({info.name, {}});
    for (const spec::ParameterSpec& parameter : info.parameters) {
      for (const std::string& value : parameter.choices) {
        if (value != parameter.default_value) all.push_back({info.name, {{parameter.name, value}}});
      }
    }
  }
  return all;
}

const auto kNamed = [](const auto& param) { return to_string(param.param); };
bool every(const CompressorInfo& /*info*/) { return true; }
bool is_sparsifier(const CompressorInfo& info) { return info.family == "sparsification"; }
bool is_quantiser(const CompressorInfo& info) { return !is_sparsifier(info); }

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(QuantiserLaws);  // a program with plug-ins only may lack a family
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SparsifierLaws);
INSTANTIATE_TEST_SUITE_P(Registry, CompressorLaws, testing::ValuesIn(variants(every)), kNamed);
INSTANTIATE_TEST_SUITE_P(Registry, QuantiserLaws, testing::ValuesIn(variants(is_quantiser)), kNamed);
INSTANTIATE_TEST_SUITE_P(Registry, SparsifierLaws, testing::ValuesIn(variants(is_sparsifier)), kNamed);

TEST(Int8, StochasticRoundingIsUnbiased) {
  const auto compressor = compressors().at("int8").make({{"rounding", "stochastic"}});
  models::Matrix numbers(1, 3);
  numbers << 127.0F, 0.25F, -63.7F;  // levels are whole numbers
  models::Matrix sum = models::Matrix::Zero(1, 3);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const EncodeContext context{1, 0, static_cast<std::uint32_t>(i)};
    Encoder encoder;
    compressor->encode(numbers, context, encoder);
    const Message message = encoder.take();
    models::Matrix arrived(1, 3);
    Decoder decoder(message);
    compressor->decode(decoder, context, arrived);
    EXPECT_LE((arrived - numbers).cwiseAbs().maxCoeff(), 1.0F) << "a neighbouring level";
    sum += arrived / static_cast<float>(kDraws);
  }
  // Five standard deviations of a mean of draws, whose variance is p (1 − p) ≤ 1/4 each.
  const float tolerance = 5.0F * 0.5F / std::sqrt(static_cast<float>(kDraws));
  EXPECT_NEAR(sum(0), 127.0F, 0.1F);
  EXPECT_NEAR(sum(1), 0.25F, tolerance);
  EXPECT_NEAR(sum(2), -63.7F, tolerance);
}

models::Matrix through_e3m0(const models::Matrix& numbers, const char* rounding, std::uint32_t stream = 0) {
  const auto compressor = compressors().at("e3m0").make({{"rounding", rounding}});
  const EncodeContext context{1, 0, stream};
  Encoder encoder;
  compressor->encode(numbers, context, encoder);
  const Message message = encoder.take();
  EXPECT_EQ(message.size(), 4 + (numbers.size() + 1) / 2) << "two numbers to a byte";
  models::Matrix arrived(numbers.rows(), numbers.cols());
  Decoder decoder(message);
  compressor->decode(decoder, context, arrived);
  return arrived;
}

TEST(E3m0, HasSevenPowersOfTwoOfEitherSignAndZero) {
  models::Matrix levels(1, 15);
  levels << 3, -3, 1.5F, -1.5F, 0.75F, -0.75F, 0.375F, -0.375F, 0.1875F, -0.1875F, 0.09375F, -0.09375F, 0.046875F,
      -0.046875F, 0;
  EXPECT_EQ(through_e3m0(levels, "nearest"), levels);
  EXPECT_EQ(through_e3m0(levels, "stochastic"), levels);
  models::Matrix between(1, 6);
  between << 64, 47, 49, -25, 0.4F, 0.6F;
  models::Matrix nearest(1, 6);
  nearest << 64, 32, 64, -32, 0, 1;  // the smallest level is 64 / 2⁶
  EXPECT_EQ(through_e3m0(between, "nearest"), nearest);
}

TEST(E3m0, StochasticRoundingIsUnbiased) {
  models::Matrix numbers(1, 4);
  numbers << 64.0F, 40.0F, -0.3F, 5.0F;
  const models::Matrix gap = (models::Matrix(1, 4) << 0, 32, 1, 4).finished();  // distances between adjacent levels
  models::Matrix sum = models::Matrix::Zero(1, 4);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const models::Matrix arrived = through_e3m0(numbers, "stochastic", static_cast<std::uint32_t>(i));
    EXPECT_LE(((arrived - numbers).cwiseAbs() - gap).maxCoeff(), 0.0F) << "a neighbouring level";
    sum += arrived / static_cast<float>(kDraws);
  }
  // Five standard deviations of a mean of draws, whose variance is p (1 − p) gap² ≤ gap² / 4 each.
  for (Eigen::Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(sum(i), numbers(i), 5 * 0.5F * gap(i) / std::sqrt(static_cast<float>(kDraws)) + 0.02F);
  }
}

/// Sends a matrix and three more numbers with low-rank, compares the bytes with the formula, and returns the decoded
/// matrix.
models::Matrix through_low_rank(const models::Matrix& numbers, const spec::ParameterValues& chosen,
                                std::uint32_t stream = 0) {
  const CompressorInfo& info = encoding("low-rank");
  spec::ParameterValues values = default_parameters(info.parameters);
  for (const auto& [name, value] : chosen) values[name] = value;
  const auto compressor = info.make(values);
  const models::Matrix others = normal_matrix(1, 3);
  const EncodeContext context{1, 0, stream};
  Encoder encoder;
  compressor->encode(numbers, context, encoder);
  compressor->encode(others, context, encoder);
  const Message message = encoder.take();
  const auto rows = static_cast<double>(numbers.rows()), columns = static_cast<double>(numbers.cols());
  double said = 0;
  for (const step::Payload& payload : compressor->size(Amount::of_matrix(rows, columns, rows * columns + 3)))
    said += payload.bytes({});
  EXPECT_EQ(static_cast<double>(message.size()), said) << rows << " × " << columns;
  const double rank = std::stod(values.at("rank"));
  if (values.at("bits") == "32") {
    EXPECT_EQ(said, 4 * (std::min(rank * (rows + columns), rows * columns) + 3));
  }
  models::Matrix arrived(numbers.rows(), numbers.cols()), after(1, 3);
  Decoder decoder(message);
  compressor->decode(decoder, context, arrived);
  compressor->decode(decoder, context, after);
  if (values.at("bits") == "32") {
    EXPECT_EQ(after, others);
  }
  return arrived;
}

TEST(LowRank, AMatrixOfNoHigherRankArrives) {
  const models::Matrix left = normal_matrix(30, 3), right = normal_matrix(3, 20);
  const models::Matrix numbers = left * right;
  for (const char* rank : {"3", "4", "12"})
    EXPECT_LT((through_low_rank(numbers, {{"rank", rank}}) - numbers).norm(), 1e-5F * numbers.norm()) << rank;
  EXPECT_GT((through_low_rank(numbers, {{"rank", "2"}}) - numbers).norm(), 1e-3F * numbers.norm());
  EXPECT_EQ(through_low_rank(numbers, {{"rank", "13"}}), numbers) << "whole, since it is no larger";
  const models::Matrix zeros = models::Matrix::Zero(30, 20);
  EXPECT_EQ(through_low_rank(zeros, {}), zeros);
  models::Matrix none = numbers;
  none(2, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(through_low_rank(none, {}).sum()));
}

TEST(LowRank, AMessageIsAProjectionAndASecondIterationANearerOne) {
  models::Matrix numbers = normal_matrix(40, 25);
  for (Eigen::Index k = 0; k < numbers.cols(); ++k) numbers.col(k) /= static_cast<float>(1 + k);
  double once = 0, twice = 0;
  for (std::uint32_t stream = 0; stream < 20; ++stream) {
    const models::Matrix arrived = through_low_rank(numbers, {}, stream);
    const double error = (arrived - numbers).squaredNorm();
    EXPECT_NEAR(error + arrived.squaredNorm(), numbers.squaredNorm(), 1e-4 * numbers.squaredNorm());
    once += error;
    twice += (through_low_rank(numbers, {{"iterations", "2"}}, stream) - numbers).squaredNorm();
    EXPECT_LT((through_low_rank(numbers, {{"bits", "4"}}, stream) - numbers).norm(), numbers.norm());
  }
  EXPECT_LT(twice, once);
}

TEST(LowRank, WithAMemoryTheSumArrives) {
  const models::Matrix numbers = normal_matrix(40, 25);
  for (const char* bits : {"32", "4"}) {
    ErrorMemory memory;
    models::Matrix arrived = models::Matrix::Zero(40, 25);
    double early = 0;
    for (std::uint32_t t = 0; t < 200; ++t) {
      models::Matrix wanted = memory.add(numbers);
      const models::Matrix sent = through_low_rank(wanted, {{"bits", bits}}, t);
      memory.keep(std::move(wanted), sent);
      arrived += sent;
      const double error = (arrived / static_cast<float>(t + 1) - numbers).norm() / numbers.norm();
      if (t == 9) early = error;
      if (t == 199) {
        EXPECT_LT(error, 0.05) << bits;
        EXPECT_LT(error, 0.2 * early) << bits;
      }
    }
  }
}

TEST(Half, RoundsToTheNearest) {
  const auto one = [](const char* name, float x) {
    const auto compressor = compressors().at(name).make({});
    const EncodeContext context{1};
    models::Matrix number = models::Matrix::Constant(1, 1, x);
    Encoder encoder;
    compressor->encode(number, context, encoder);
    const Message message = encoder.take();
    Decoder decoder(message);
    compressor->decode(decoder, context, number);
    return number(0, 0);
  };
  EXPECT_EQ(one("fp16", 1.0F / 3), 0.333251953125F);
  EXPECT_EQ(one("bf16", 1.0F / 3), 0.333984375F);
  EXPECT_EQ(one("fp16", 2049.0F), 2048.0F) << "ties to even";
  EXPECT_EQ(one("fp16", 1e6F), std::numeric_limits<float>::infinity()) << "beyond the largest";
  EXPECT_NEAR(one("bf16", 1e30F), 1e30F, 1e30F / 256) << "as many exponents as fp32";
}

TEST(Message, BitsPackEightToAByte) {
  const std::vector<std::uint32_t> truths{1, 0, 1, 1, 0, 0, 0, 1, 1, 0};
  Encoder encoder;
  encoder.packed(truths, 1);
  const Message message = encoder.take();
  EXPECT_EQ(message.size(), 2);
  std::vector<std::uint32_t> read(10, 7);
  Decoder(message).packed(read, 1);
  EXPECT_EQ(read, truths);
}

TEST(Message, IsReadAsItWasWrittenOrNotAtAll) {
  const models::Matrix numbers = normal_matrix(2, 3);
  const std::vector<std::int32_t> whole{7, -1, 1 << 30};
  Encoder encoder;
  encoder.fp32(numbers);
  encoder.int32(whole);
  const Message message = encoder.take();
  EXPECT_EQ(message.size(), 24 + 12);
  models::Matrix into(2, 3);
  std::vector<std::int32_t> list(3);
  Decoder right(message);
  right.fp32(into);
  right.int32(list);
  EXPECT_EQ(into, numbers);
  EXPECT_EQ(list, whole);
  EXPECT_THROW(right.int32(list), std::logic_error) << "there is no more";
  EXPECT_THROW(Decoder(message).fp16(into), std::logic_error);
  models::Matrix larger(3, 3);
  EXPECT_THROW(Decoder(message).fp32(larger), std::logic_error);
}

}  // namespace
}  // namespace dadsim::compress
