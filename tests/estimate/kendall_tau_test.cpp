#include <gtest/gtest.h>

#include <vector>

#include "estimate/statistics.hpp"

namespace dadsim::estimate {
namespace {

TEST(KendallTau, CountsPairsInOrder) {
  // Five of six pairs are in order and one is not: τ = 4/6.
  const std::vector<PredictedMeasured> swapped{{1, 10}, {2, 30}, {3, 20}, {4, 40}};
  EXPECT_DOUBLE_EQ(kendall_tau(swapped).value(), 4.0 / 6);
  const std::vector<PredictedMeasured> turned{{1, 3}, {2, 2}, {3, 1}};
  EXPECT_DOUBLE_EQ(kendall_tau(turned).value(), -1);
}

TEST(KendallTau, CountsTiesAsNeitherAndNeedsTwo) {
  const std::vector<PredictedMeasured> tied{{1, 1}, {1, 2}, {2, 3}};
  EXPECT_DOUBLE_EQ(kendall_tau(tied).value(), 2.0 / 3);
  EXPECT_FALSE(kendall_tau({}).has_value());
  EXPECT_FALSE(kendall_tau(std::vector<PredictedMeasured>{{1, 1}}).has_value());
}

}  // namespace
}  // namespace dadsim::estimate
