// Compares quantisers with their definitions: mean, largest error, and what a memory does to a biased quantiser.
#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "compress/compressor.hpp"
#include "compress/registry.hpp"
#include "support/random.hpp"

namespace dadsim::compress {
namespace {

spec::ParameterValues with_defaults(const std::string& name, spec::ParameterValues values) {
  for (const spec::ParameterSpec& parameter : compressors().at(name).parameters) {
    values.try_emplace(parameter.name, parameter.default_value);
  }
  return values;
}

class Quantiser {
 public:
  explicit Quantiser(const std::string& name, const spec::ParameterValues& values = {})
      : compressor_(compressors().at(name).make(with_defaults(name, values))) {}

  models::Matrix send(const models::Matrix& numbers, std::uint32_t message = 0) {
    const EncodeContext context{3, 0, message};
    Encoder encoder;
    compressor_->encode(numbers, context, encoder);
    const Message sent = encoder.take();
    bytes = sent.size();
    models::Matrix arrived(numbers.rows(), numbers.cols());
    Decoder decoder(sent);
    compressor_->decode(decoder, context, arrived);
    return arrived;
  }
  std::int64_t bytes = 0;  ///< bytes of the last message

 private:
  std::unique_ptr<Compressor> compressor_;
};

models::Matrix row_of_normals(Eigen::Index size, std::uint32_t stream = 0) {
  RandomStream random(9, Purpose::test, stream);
  boost::random::normal_distribution<float> normal;
  models::Matrix row(1, size);
  for (float& x : row.reshaped()) x = normal(random);
  return row;
}

/// Statistics of many messages of the same numbers.
struct Average {
  Eigen::ArrayXd mean, variance;
  double squares = 0;        ///< mean ‖received‖²
  double squares_error = 0;  ///< standard error of `squares`
  double draws = 0;

  Average(Quantiser quantiser, const models::Matrix& numbers, int count) : draws(count) {
    mean = variance = Eigen::ArrayXd::Zero(numbers.size());
    double fourth = 0;
    for (int i = 0; i < count; ++i) {
      const Eigen::ArrayXd arrived =
          quantiser.send(numbers, static_cast<std::uint32_t>(i)).reshaped<Eigen::RowMajor>().cast<double>();
      mean += arrived / draws;
      variance += arrived.square() / draws;
      const double norm = arrived.square().sum();
      squares += norm / draws;
      fourth += norm * norm / draws;
    }
    variance -= mean.square();
    squares_error = std::sqrt(std::max(0.0, fourth - squares * squares) / draws);
  }

  /// Returns the largest deviation of a mean from its wanted value, in standard errors.
  double worst(const models::Matrix& wanted) const {
    const Eigen::ArrayXd error = (variance.max(0) / draws).sqrt() + 1e-7 * mean.abs() + 1e-12;
    return ((mean - wanted.reshaped<Eigen::RowMajor>().cast<double>().array()).abs() / error).maxCoeff();
  }
};

constexpr int kDraws = 20000;

TEST(Qsgd, IsRightOnAverageAndOffByNoMoreThanItsBound) {
  // Three buckets: similar numbers, numbers with an outlier, and a shorter bucket.
  models::Matrix numbers(1, 150);
  numbers << row_of_normals(64), 0.1F * row_of_normals(64, 1), row_of_normals(22, 2);
  numbers(70) = 5.0F;
  // Numbers near zero are rarely sent and would need more messages, so all numbers are moved away from zero.
  for (float& x : numbers.reshaped()) x += std::copysign(0.05F, x);
  for (const char* norm : {"l2", "max"}) {
    for (const int levels : {1, 3, 7}) {
      const spec::ParameterValues values{{"levels", std::to_string(levels)}, {"bucket", "64"}, {"norm", norm}};
      const Average average(Quantiser("qsgd", values), numbers, kDraws / levels);
      EXPECT_LT(average.worst(numbers), 5.0) << levels << ", " << norm;
    }
  }
  for (const int levels : {1, 4, 7, 127}) {
    const models::Matrix bucket = row_of_normals(512);
    const double size = bucket.squaredNorm();
    const Average average(Quantiser("qsgd", {{"levels", std::to_string(levels)}}), bucket, 400);
    const double bound = 1 + std::min(512.0 / (levels * levels), std::sqrt(512.0) / levels);
    EXPECT_LE(average.squares, bound * size + 5 * average.squares_error) << levels;
    EXPECT_GE(average.squares, size - 5 * average.squares_error) << "no less than what was sent";
    if (levels == 1) {
      EXPECT_GT(average.squares, 0.7 * bound * size) << "the bound says something";
    }
  }
}

TEST(Qsgd, SendsANormPerBucketAndAFewBitsPerNumber) {
  for (const auto& [levels, bits] : {std::pair{1, 2}, {2, 3}, {3, 3}, {4, 4}, {7, 4}, {8, 5}, {127, 8}, {128, 9}}) {
    Quantiser quantiser("qsgd", {{"levels", std::to_string(levels)}});
    quantiser.send(row_of_normals(1000));
    EXPECT_EQ(quantiser.bytes, 2 * 4 + 1000 * bits / 8) << levels;
  }
  // A bucket must not affect the next one.
  models::Matrix numbers = models::Matrix::Zero(1, 700);
  numbers(600) = -3.0F;
  EXPECT_EQ(Quantiser("qsgd").send(numbers), numbers);
}

TEST(TernGrad, IsRightOnAverageButForWhatItClips) {
  const models::Matrix numbers = row_of_normals(150);
  const Average plain(Quantiser("terngrad", {{"clip", "0"}}), numbers, kDraws);
  EXPECT_LT(plain.worst(numbers), 5.0);
  const double scale = numbers.cwiseAbs().maxCoeff();
  EXPECT_NEAR(plain.squares, scale * numbers.cwiseAbs().sum(), 5 * plain.squares_error) << "s ‖x‖₁";

  const float deviation = std::sqrt((numbers.array() - numbers.mean()).square().mean());
  const models::Matrix clipped = numbers.cwiseMin(1.5F * deviation).cwiseMax(-1.5F * deviation);
  EXPECT_GT((clipped - numbers).cwiseAbs().maxCoeff(), 0.5F) << "something is clipped";
  for (const char* packing : {"bits", "base-3"}) {
    const Average average(Quantiser("terngrad", {{"clip", "1.5"}, {"packing", packing}}), numbers, kDraws);
    EXPECT_LT(average.worst(clipped), 5.0) << packing;
    EXPECT_NEAR(average.squares, 1.5 * deviation * clipped.cwiseAbs().sum(), 5 * average.squares_error);
  }
}

TEST(TernGrad, PacksFourOrFiveNumbersToAByte) {
  for (const Eigen::Index size : {1, 5, 11, 1000}) {
    const models::Matrix numbers = row_of_normals(size);
    Quantiser bits("terngrad");
    Quantiser base_3("terngrad", {{"packing", "base-3"}});
    EXPECT_EQ(bits.send(numbers), base_3.send(numbers)) << "the same numbers in other bytes";
    EXPECT_EQ(bits.bytes, 4 + (size + 3) / 4);
    EXPECT_EQ(base_3.bytes, 4 + (size + 4) / 5);
  }
  const models::Matrix same = models::Matrix::Constant(2, 3, -0.7F);
  EXPECT_EQ(Quantiser("terngrad").send(same), same) << "no spread, nothing to clip";
}

TEST(Natural, IsRightOnAverageAndOffByNoMoreThanAnEighth) {
  models::Matrix numbers = row_of_normals(100);
  numbers(7) = 1e-40F;  // below the smallest power of two, so it is sent as this power or as zero
  const Average average(Quantiser("natural"), numbers, kDraws);
  numbers(7) = 0;  // tested separately below, as fp32 cannot represent the square of its deviation
  EXPECT_NEAR(average.mean(7), 1e-40, 5e-40);
  Average others = average;
  others.mean(7) = 0;
  EXPECT_LT(others.worst(numbers), 5.0);
  // The ratio (1 + 3m) / (1 + m)² is largest at m = 1/3, with 9/8. It is 1 at powers of two.
  const models::Matrix worst = models::Matrix::Constant(1, 1, 4.0F / 3);
  const Average at_worst(Quantiser("natural"), worst, kDraws);
  EXPECT_NEAR(at_worst.squares, 9.0 / 8 * 16 / 9, 5 * at_worst.squares_error);
  EXPECT_LE(average.squares, 9.0 / 8 * numbers.squaredNorm() + 5 * average.squares_error);
}

TEST(Natural, RoundsToPowersOfTwo) {
  models::Matrix powers(1, 8);
  powers << 0, 1, -1, 0.5F, -1024, 0x1p-126F, 0x1p127F, -0x1p-20F;
  EXPECT_EQ(Quantiser("natural").send(powers), powers);
  const models::Matrix numbers = row_of_normals(1000);
  Quantiser natural("natural");
  const models::Matrix arrived = natural.send(numbers);
  EXPECT_EQ(natural.bytes, 1125);
  for (Eigen::Index i = 0; i < 1000; ++i) {
    int exponent = 0;
    EXPECT_EQ(std::frexp(std::abs(arrived(i)), &exponent), 0.5F);
    const float ratio = arrived(i) / numbers(i);
    EXPECT_TRUE(ratio > 0.5F && ratio <= 2.0F) << ratio;
  }
}

TEST(Sign, SendsSignsAndTheMeanMagnitude) {
  models::Matrix numbers(2, 3);
  numbers << 1, -2, 0, -0.5F, 4, -4.5F;
  models::Matrix wanted(2, 3);
  wanted << 2, -2, 2, -2, 2, -2;
  Quantiser sign("sign");
  EXPECT_EQ(sign.send(numbers), wanted);
  EXPECT_EQ(sign.bytes, 5);
  const models::Matrix many = row_of_normals(5000);
  const double left = (sign.send(many) - many).squaredNorm() / many.squaredNorm();
  const double sum = many.cwiseAbs().sum();
  EXPECT_NEAR(left, 1 - sum * sum / 5000 / many.squaredNorm(), 1e-5);
  EXPECT_NEAR(left, 1 - 2 / M_PI, 0.02) << "of normal numbers";
}

// Lemma 1 of Karimireddy et al., arXiv 1901.09847: e_t + everything received up to t = everything to be sent up to t.
TEST(Sign, AMemorySendsLaterWhatWasLost) {
  Quantiser sign("sign");
  ErrorMemory memory;
  models::Matrix wanted = models::Matrix::Zero(1, 40);
  models::Matrix arrived = wanted;
  double largest_error = 0;
  for (std::uint32_t t = 0; t < 200; ++t) {
    const models::Matrix gradient = row_of_normals(40, t) + models::Matrix::Constant(1, 40, 0.3F);
    models::Matrix corrected = memory.add(gradient);
    const models::Matrix sent = sign.send(corrected);
    memory.keep(corrected, sent);
    wanted += gradient;
    arrived += sent;
    largest_error = std::max(largest_error, static_cast<double>(memory.held().norm()));
    EXPECT_LT((arrived + memory.held() - wanted).norm(), 1e-5F * wanted.norm()) << t;
  }
  // Lemma 3: ‖e‖² ≤ 4 (1 − δ) ‖g‖² / δ². δ is about 2/π, and ‖g‖² is about 40 · 1.09 here.
  EXPECT_LT(largest_error, 2 * std::sqrt(1 - 0.5) / 0.5 * std::sqrt(44.0));
  EXPECT_GT(largest_error, 1.0) << "something is kept";
}

/// Counterexample 2 of Karimireddy et al., arXiv 1901.09847: f(x) = ε |x₁ + x₂| + |x₁ − x₂|. If x₁ ≠ x₂, the
/// subgradient's sign is ± (1, −1), so a sign method never changes x₁ + x₂.
TEST(Sign, WithoutAMemoryItNeverMovesAlongWhatItRoundsAway) {
  constexpr float kEpsilon = 0.5F;
  const auto value = [](const models::Matrix& x) { return kEpsilon * std::abs(x(0) + x(1)) + std::abs(x(0) - x(1)); };
  for (const bool remembers : {false, true}) {
    Quantiser sign("sign");
    ErrorMemory memory;
    models::Matrix x(1, 2);
    x << 1, 1.5F;
    for (std::uint32_t t = 0; t < 20000; ++t) {
      const float along = x(0) + x(1) > 0 ? 1.0F : -1.0F;
      const float across = x(0) - x(1) > 0 ? 1.0F : -1.0F;
      models::Matrix step(1, 2);
      step << kEpsilon * along + across, kEpsilon * along - across;
      step *= 0.05F / std::sqrt(static_cast<float>(t + 1));
      if (remembers) step = memory.add(step);
      const models::Matrix sent = sign.send(step);
      if (remembers) memory.keep(step, sent);
      x -= sent;
    }
    if (remembers) {
      EXPECT_LT(value(x), 0.01F);
    } else {
      EXPECT_GE(value(x), kEpsilon * 2.49F) << "where it began";
    }
  }
}

}  // namespace
}  // namespace dadsim::compress
