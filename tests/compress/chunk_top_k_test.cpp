// Tests the compressor that sends the largest numbers of every chunk in few bits: bytes, bins and positions.
#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <boost/random/student_t_distribution.hpp>
#include <cmath>

#include "compress/registry.hpp"
#include "support/random.hpp"

namespace dadsim::compress {
namespace {

spec::ParameterValues chunked(const char* fraction, const char* values, const char* chunk = "4096") {
  return {{"fraction", fraction}, {"chunk", chunk}, {"values", values}};
}

struct Sent {
  models::Matrix arrived;
  std::int64_t bytes = 0, kept = 0;
};

Sent sent(const models::Matrix& numbers, const spec::ParameterValues& parameters) {
  const auto compressor = compressors().at("chunk-top-k").make(parameters);
  Encoder encoder;
  Sent result;
  result.kept = compressor->encode(numbers, {}, encoder);
  const Message message = encoder.take();
  result.bytes = message.size();
  double said = 0;
  for (const step::Payload& payload : compressor->size(static_cast<double>(numbers.size()))) said += payload.bytes({});
  EXPECT_DOUBLE_EQ(said, static_cast<double>(result.bytes));
  result.arrived = models::Matrix(numbers.rows(), numbers.cols());
  Decoder decoder(message);
  compressor->decode(decoder, {}, result.arrived);
  return result;
}

models::Matrix gaussian(Eigen::Index rows, Eigen::Index columns) {
  RandomStream random(5, Purpose::test);
  boost::random::normal_distribution<float> normal;
  return models::Matrix::NullaryExpr(rows, columns, [&] { return normal(random); });
}

double error(const models::Matrix& numbers, const models::Matrix& arrived) {
  double missed = 0, all = 0;
  for (Eigen::Index i = 0; i < numbers.size(); ++i) {
    if (arrived.data()[i] == 0) continue;
    missed += std::pow(static_cast<double>(numbers.data()[i] - arrived.data()[i]), 2);
    all += std::pow(static_cast<double>(numbers.data()[i]), 2);
  }
  return missed / all;
}

TEST(ChunkTopK, SixtyFourOfAChunkAre146TimesSmaller) {
  const Sent one = sent(gaussian(1, 4096 * 50), chunked("0.015625", "2-bit"));
  EXPECT_EQ(one.kept, 64 * 50);
  EXPECT_EQ(one.bytes, 20 + 112 * 50);
  EXPECT_NEAR(4 * 4096.0 / 112, 146.3, 0.05);
}

TEST(ChunkTopK, KeepsTheLargestOfEveryChunkAsTheyAre) {
  const models::Matrix numbers = gaussian(3, 101);
  const Sent one = sent(numbers, chunked("0.1", "fp32", "64"));
  EXPECT_EQ(one.kept, static_cast<std::int64_t>(std::ceil(0.1 * 303)));
  Eigen::Index kept = 0;
  for (Eigen::Index first = 0; first < 303; first += 64) {
    const Eigen::Index count = std::min<Eigen::Index>(64, 303 - first);
    float least = 1e9F, most = 0;
    for (Eigen::Index i = first; i < first + count; ++i) {
      const float x = numbers.data()[i], y = one.arrived.data()[i];
      if (y != 0) {
        EXPECT_EQ(x, y);
        ++kept;
        least = std::min(least, std::abs(x));
      } else {
        most = std::max(most, std::abs(x));
      }
    }
    EXPECT_GE(least, most) << first;
  }
  EXPECT_EQ(kept, one.kept);
  EXPECT_EQ(sent(numbers, chunked("1", "fp32")).arrived, numbers);
}

// The largest values are about one standard deviation from 0. Two of the four bins are there, so a sign and the mean
// suffice.
TEST(ChunkTopK, PublishedBinsAreASignOnGaussianNumbers) {
  const models::Matrix numbers = gaussian(16, 4096);
  const Sent bins = sent(numbers, chunked("0.015625", "2-bit"));
  const Sent sign = sent(numbers, chunked("0.015625", "sign"));
  EXPECT_LT(sign.bytes, bins.bytes);
  EXPECT_NEAR(error(numbers, bins.arrived), error(numbers, sign.arrived), 0.002);
  EXPECT_NEAR(error(numbers, bins.arrived), 0.012, 0.006);
  EXPECT_LT((bins.arrived - sign.arrived).cwiseAbs().maxCoeff(), 0.05F);
  EXPECT_LT(error(numbers, sent(numbers, chunked("0.015625", "symmetric")).arrived), error(numbers, sign.arrived));
}

TEST(ChunkTopK, HeavyTailsFallIntoTheMiddleBin) {
  RandomStream random(7, Purpose::test);
  boost::random::student_t_distribution<float> heavy(3);
  const models::Matrix numbers = models::Matrix::NullaryExpr(16, 4096, [&] { return heavy(random); });
  EXPECT_GT(error(numbers, sent(numbers, chunked("0.015625", "2-bit")).arrived),
            error(numbers, sent(numbers, chunked("0.015625", "sign")).arrived));
}

}  // namespace
}  // namespace dadsim::compress
