#include "estimate/critical_batch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace dadsim::estimate {
namespace {

TEST(CriticalBatch, TheLawIsFoundAgain) {
  const BatchLaw law{30'000, 250};
  std::vector<StepsAtBatch> runs;
  for (const double batch : {32.0, 128.0, 512.0}) runs.push_back({batch, law.steps(batch)});
  const auto found = fit_batch_law(runs);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->critical, 250, 1e-6);
  EXPECT_NEAR(found->fewest_samples, 30'000, 1e-4);
  EXPECT_DOUBLE_EQ(law.samples(250), 60'000);
  EXPECT_DOUBLE_EQ(law.steps(250), 240);
}

TEST(CriticalBatch, TwoBatchesAreEnoughAndOneIsNot) {
  EXPECT_TRUE(fit_batch_law({{{64, 100}, {128, 60}}}));
  EXPECT_FALSE(fit_batch_law({{{64, 100}, {64, 90}}}));
  EXPECT_FALSE(fit_batch_law({{{64, 0}, {128, 60}}}));
}

TEST(CriticalBatch, BatchesThatSaveInProportionHaveNoLimit) {
  const auto found = fit_batch_law({{{64, 100}, {128, 49}}});
  ASSERT_TRUE(found);
  EXPECT_TRUE(std::isinf(found->critical));
  EXPECT_NEAR(found->samples(256), found->samples(64), 1e-9);
  // The constant with the least relative error to 6,400 and 6,272 samples is Σ 1/E ÷ Σ 1/E².
  EXPECT_NEAR(found->fewest_samples, (1 / 6400.0 + 1 / 6272.0) / (std::pow(1 / 6400.0, 2) + std::pow(1 / 6272.0, 2)),
              1e-6);
  EXPECT_FALSE(fit_batch_law({{{64, 100}, {128, 101}}})) << "samples more than in proportion to the batch";
}

}  // namespace
}  // namespace dadsim::estimate
