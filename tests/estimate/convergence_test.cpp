#include "estimate/convergence.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dadsim::estimate {
namespace {

constexpr double kImages = 1'281'167;

KnownStepsAnswer resnet(std::int64_t batch) {
  return published_steps(*spec::workload_registry().find("resnet-50"), batch);
}
KnownStepsAnswer bert(std::int64_t batch) {
  return published_steps(*spec::workload_registry().find("bert-large-512"), batch);
}

TEST(Convergence, TheTableIsOfWorkloadsAndInOrder) {
  const auto table = convergence_table();
  ASSERT_EQ(table.size(), 68U);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const ConvergenceResult& row = table[i];
    SCOPED_TRACE(row.batch);
    EXPECT_NE(spec::workload_registry().find(row.workload), nullptr);
    EXPECT_GT(row.minimum, 0);
    EXPECT_LE(row.minimum, row.maximum);
    EXPECT_GE(row.results, 1);
    if (row.unit == ConvergenceResult::Unit::epochs) {
      EXPECT_GT(spec::workload_registry().find(row.workload)->dataset_size, 0) << "epochs of what?";
    }
    if (i > 0 && std::string(row.workload) == table[i - 1].workload) {
      EXPECT_GE(row.batch, table[i - 1].batch);
    }
  }
}

TEST(Convergence, AtAPublishedBatchItIsWhatWasPublished) {
  // One round with one number: 45 epochs at 13,056 in v1.0 and in v2.1.
  const KnownStepsAnswer answer = resnet(13'056);
  ASSERT_TRUE(answer.known);
  EXPECT_EQ(answer.known->steps, std::ceil(45 * kImages / 13'056));
  EXPECT_EQ(answer.known->steps, 4416);
  EXPECT_EQ(answer.known->fewest, answer.known->steps);
  EXPECT_EQ(answer.known->most, answer.known->steps);
  EXPECT_EQ(answer.known->target, "75.9 % top-1");
  EXPECT_NE(answer.known->source.find("45 epochs of 1281167 samples, mean of 2 results at this batch: MLPerf Training "
                                      "v1.0"),
            std::string::npos)
      << answer.known->source;
}

TEST(Convergence, RoundsCountByTheirResults) {
  // At 3,264: 35 … 41 (3 results), 35 (14), 35 (19), 35 … 39 (2).
  const KnownStepsAnswer answer = resnet(3264);
  ASSERT_TRUE(answer.known);
  const double epochs = (38.0 * 3 + 35.0 * 14 + 35.0 * 19 + 37.0 * 2) / 38;
  EXPECT_EQ(answer.known->steps, std::ceil(epochs * kImages / 3264));
  EXPECT_EQ(answer.known->fewest, std::ceil(35 * kImages / 3264));
  EXPECT_EQ(answer.known->most, std::ceil(41 * kImages / 3264));
}

TEST(Convergence, BetweenBatchesItIsLinearInTheLogarithm) {
  // Between 45 epochs at 13,056 and 47 at 16,384; the geometric mean of the batches is 14,626.
  const KnownStepsAnswer answer = resnet(14'626);
  ASSERT_TRUE(answer.known);
  EXPECT_NEAR(answer.known->steps, 46 * kImages / 14'626, 2);
  EXPECT_NE(answer.known->source.find("between 2 results at a batch of 13056 and 2 results at 16384"),
            std::string::npos);
}

TEST(Convergence, SamplesNeedNoEpochs) {
  const KnownStepsAnswer answer = bert(2048);
  ASSERT_TRUE(answer.known);
  EXPECT_EQ(answer.known->steps, 2'850'816 / 2048);
  EXPECT_NE(answer.known->source.find("2850816 samples"), std::string::npos);
}

TEST(Convergence, AnIncredibleMostIsLeftOut) {
  // 2,251,872 … 156,811,560 in 26 results.
  const KnownStepsAnswer answer = bert(448);
  ASSERT_TRUE(answer.known);
  EXPECT_EQ(answer.known->steps, std::ceil(2'251'872.0 / 448));
  EXPECT_EQ(answer.known->most, answer.known->steps);
}

TEST(Convergence, NothingIsExtrapolated) {
  for (const std::int64_t batch : {407, 67'457}) {
    const KnownStepsAnswer answer = resnet(batch);
    EXPECT_FALSE(answer.known);
    EXPECT_NE(answer.why_not.find("from a global batch of 408 to 67456"), std::string::npos) << answer.why_not;
  }
  EXPECT_TRUE(resnet(408).known);
  EXPECT_TRUE(resnet(67'456).known);
  const KnownStepsAnswer none = published_steps(*spec::workload_registry().find("vgg-16"), 256);
  EXPECT_FALSE(none.known);
  EXPECT_EQ(none.why_not, "no published results for vgg-16 are known here");
}

}  // namespace
}  // namespace dadsim::estimate
