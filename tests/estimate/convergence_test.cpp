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
  ASSERT_EQ(table.size(), 91U);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const ConvergenceResult& row = table[i];
    SCOPED_TRACE(row.batch);
    EXPECT_NE(spec::workload_registry().find(row.workload), nullptr);
    EXPECT_GT(row.minimum, 0);
    EXPECT_LE(row.minimum, row.maximum);
    EXPECT_GE(row.results, 1);
    if (row.unit == ConvergenceResult::WorkUnit::epochs) {
      EXPECT_GT(spec::workload_registry().find(row.workload)->dataset_size, 0) << "epochs of what?";
    }
    if (row.mean) {
      EXPECT_GE(*row.mean, row.minimum);
      EXPECT_LE(*row.mean, row.maximum);
    }
    if (i > 0 && std::string(row.workload) == table[i - 1].workload) {
      EXPECT_GE(row.batch, table[i - 1].batch);
    }
  }
}

TEST(Convergence, AtAPublishedBatchItIsWhatWasPublished) {
  // MLPerf v1.0 and v2.1 report 45 epochs at batch 13,056.
  const KnownStepsAnswer answer = resnet(13'056);
  ASSERT_TRUE(answer.known);
  EXPECT_EQ(answer.known->steps, std::ceil(45 * kImages / 13'056));
  EXPECT_EQ(answer.known->steps, 4416);
  EXPECT_EQ(answer.known->fewest, answer.known->steps);
  EXPECT_EQ(answer.known->most, answer.known->steps);
  EXPECT_EQ(answer.known->target, "75.9 % top-1");
  const Statement& source = answer.known->source;
  EXPECT_EQ(source.kind, "published-steps");
  EXPECT_EQ(source.number("samples") / source.number("samples_per_epoch"), 45);
  EXPECT_EQ(source.number("samples_per_epoch"), 1281167);
  EXPECT_EQ(source.numbers("batches"), std::vector<double>{13'056});
  EXPECT_EQ(source.numbers("results"), std::vector<double>{2});
  EXPECT_TRUE(source.subject().starts_with("MLPerf Training v1.0")) << source.subject();
}

TEST(Convergence, RoundsCountByTheirResults) {
  // At batch 3,264, four rounds of MLPerf report 35 … 41 epochs (3 results), 35 (14), 35 (19) and 35 … 39 (2).
  const KnownStepsAnswer answer = resnet(3264);
  ASSERT_TRUE(answer.known);
  const double epochs = (38.0 * 3 + 35.0 * 14 + 35.0 * 19 + 37.0 * 2) / 38;
  EXPECT_EQ(answer.known->steps, std::ceil(epochs * kImages / 3264));
  EXPECT_EQ(answer.known->fewest, std::ceil(35 * kImages / 3264));
  EXPECT_EQ(answer.known->most, std::ceil(41 * kImages / 3264));
}

TEST(Convergence, BetweenBatchesItIsLinearInTheLogarithm) {
  // The batch is the geometric mean of two entries: 45 epochs at 13,056 and 47 epochs at 16,384.
  const KnownStepsAnswer answer = resnet(14'626);
  ASSERT_TRUE(answer.known);
  EXPECT_NEAR(answer.known->steps, 46 * kImages / 14'626, 2);
  EXPECT_EQ(answer.known->source.numbers("batches"), (std::vector<double>{13'056, 16'384}));
  EXPECT_EQ(answer.known->source.numbers("results"), (std::vector<double>{2, 2}));
}

TEST(Convergence, SamplesNeedNoEpochs) {
  const KnownStepsAnswer answer = bert(2048);
  ASSERT_TRUE(answer.known);
  EXPECT_EQ(answer.known->steps, 2'850'816 / 2048);
  EXPECT_EQ(answer.known->source.number("samples"), 2'850'816);
  EXPECT_FALSE(answer.known->source.has("samples_per_epoch"));
}

TEST(Convergence, AnIncredibleMostIsLeftOut) {
  // The 26 results are between 2,251,872 and 156,811,560 samples.
  const KnownStepsAnswer answer = bert(448);
  ASSERT_TRUE(answer.known);
  EXPECT_EQ(answer.known->steps, std::ceil(2'251'872.0 / 448));
  EXPECT_EQ(answer.known->most, answer.known->steps);
}

TEST(Convergence, NothingIsExtrapolated) {
  for (const std::int64_t batch : {407, 67'457}) {
    const KnownStepsAnswer answer = resnet(batch);
    EXPECT_FALSE(answer.known);
    EXPECT_EQ(answer.why_not, (Statement{"batch-beyond-published", {"resnet-50"}}
                                   .with("least_batch", 408.0)
                                   .with("most_batch", 67'456.0)
                                   .with("batch", static_cast<double>(batch))));
  }
  EXPECT_TRUE(resnet(408).known);
  EXPECT_TRUE(resnet(67'456).known);
  const KnownStepsAnswer none = published_steps(*spec::workload_registry().find("vgg-16"), 256);
  EXPECT_FALSE(none.known);
  EXPECT_EQ(none.why_not, (Statement{"no-published-steps", {"vgg-16"}}));
}

/// Published steps for Llama 2 70B exist only for training adapters with sequences of 8,192 tokens.
TEST(Convergence, IsOfWhatIsTrained) {
  const spec::Workload& llama = *spec::workload_registry().find("llama-2-70b");
  const KnownStepsAnswer adapters = published_steps(llama, 16, {.adapters = true, .sequence = 8192});
  ASSERT_TRUE(adapters.known);
  EXPECT_EQ(adapters.known->steps, 4448 / 16);
  EXPECT_EQ(adapters.known->most, 6912 / 16);
  EXPECT_FALSE(published_steps(llama, 16, {.sequence = 8192}).known) << "all of it";
  EXPECT_FALSE(published_steps(llama, 16, {.adapters = true}).known) << "its own sequences are half as long";
  EXPECT_TRUE(published_batches(llama).empty());
  const KnownStepsAnswer large = published_steps(*spec::workload_registry().find("llama-3.1-405b"), 1152);
  ASSERT_TRUE(large.known);
  EXPECT_EQ(large.known->steps, std::ceil(288768.0 / 1152));
  EXPECT_EQ(published_steps(*spec::workload_registry().find("llama-3.1-8b"), 128).known->steps, 344064 / 128);
}

}  // namespace
}  // namespace dadsim::estimate
