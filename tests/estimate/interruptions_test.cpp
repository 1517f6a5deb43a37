#include "estimate/interruptions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dadsim::estimate {
namespace {

TEST(Interruptions, RareOnesCostLittleMoreThanCheckpoints) {
  const Interruptions what{
      .per_second = 1e-9, .checkpoint_every = 600, .checkpoint_seconds = 60, .restart_seconds = 300};
  EXPECT_NEAR(expected_slowdown(what), 1.1, 1e-4);
}

/// If checkpoints are short, Young's first-order optimum √(2 δ M) is a good approximation.
TEST(Interruptions, TheBestIntervalIsNoWorseThanItsNeighbours) {
  Interruptions what{
      .per_second = 1 / 36000.0, .checkpoint_every = 0, .checkpoint_seconds = 60, .restart_seconds = 300};
  const double best = best_interval(what);
  EXPECT_NEAR(best, std::sqrt(2 * 60 * 36000.0), 80);
  const double least = expected_slowdown(what);
  for (const double factor : {0.7, 0.9, 1.1, 1.4}) {
    what.checkpoint_every = factor * best;
    EXPECT_GT(expected_slowdown(what), least) << factor;
  }
}

TEST(Interruptions, MoreOfThemNeverEnd) {
  const Interruptions what{.per_second = 1, .checkpoint_every = 3600, .checkpoint_seconds = 60, .restart_seconds = 300};
  EXPECT_GT(expected_slowdown(what), 1e100);
}

}  // namespace
}  // namespace dadsim::estimate
