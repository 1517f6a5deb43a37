// Tests verdicts: faster by a factor, equal within a margin, or undecided, and then which information is missing.
#include "estimate/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dadsim::estimate {
namespace {

Contender timed(double seconds, const std::string& cause = "all-reduce as ring") {
  Contender contender{.seconds = seconds, .step_seconds = seconds};
  contender.parts = {{"network.tcp", seconds, cause, {}}};
  return contender;
}

/// Returns a run that learned with one seed and reached the target after `at` seconds, with evaluations every `every`
/// seconds.
Contender learned(double at, double every, double step) {
  Contender contender{.seconds = at, .step_seconds = step, .scatter = 0.08};
  contender.arrivals = {Arrival{at - every, at}};
  return contender;
}

Contender exact(std::optional<double> steps, double step_seconds) {
  Contender contender{.exact = true, .step_seconds = step_seconds};
  contender.seconds = steps.value_or(0) * step_seconds;
  contender.arrivals = {steps ? std::optional(Arrival{(*steps - 1) * step_seconds, *steps * step_seconds})
                              : std::nullopt};
  return contender;
}

TEST(Verdict, WhatTwoStepsShareDoesNotTellThemApart) {
  // Both runs use the same collective by the same algorithm, so they share its error.
  const Verdict same = decide(timed(1), timed(1.02));
  EXPECT_EQ(same.standing, Standing::equal);
  EXPECT_NEAR(same.ratio.value, 1.02, 1e-12);
  EXPECT_EQ(decide(timed(1), timed(1.2)).standing, Standing::behind);
  // With another collective, the errors are independent.
  const Verdict other = decide(timed(1), timed(1.02, "all-gather as direct"));
  EXPECT_EQ(other.standing, Standing::undecided);
  EXPECT_EQ(other.would_tell, WouldTell::calibration);
  EXPECT_LT(*other.ratio.low, 1);
  EXPECT_GT(*other.ratio.high, 1.04);
}

TEST(Verdict, EqualIsWhatLiesInsideTheMarginWithItsWholeInterval) {
  EXPECT_EQ(decide({.seconds = 100}, {.seconds = 100}).standing, Standing::equal);
  EXPECT_EQ(decide({.seconds = 100}, {.seconds = 104.9}).standing, Standing::equal);
  EXPECT_EQ(decide({.seconds = 100}, {.seconds = 105.1}).standing, Standing::behind);
}

TEST(Verdict, OneSeedAndRareEvaluationsLeaveOpenWhatTheyLeaveOpen) {
  const Verdict seeds = decide(learned(100, 1, 1), learned(110, 1, 1));
  EXPECT_EQ(seeds.standing, Standing::undecided);
  EXPECT_EQ(seeds.would_tell, WouldTell::seeds);
  const Verdict evaluations = decide(learned(100, 90, 1), learned(160, 90, 1));
  EXPECT_EQ(evaluations.standing, Standing::undecided);
  EXPECT_EQ(evaluations.would_tell, WouldTell::evaluations);
  EXPECT_EQ(decide(learned(100, 1, 1), learned(200, 1, 1)).standing, Standing::behind);
}

// 39.9 ms and 1.10 s were once called a tie, as both runs met the target at their first evaluation. Each run needs at
// least its first round.
TEST(Verdict, TheFirstRoundTakesItsTime) {
  const Verdict verdict = decide(learned(0.0399, 0.0399, 0.0399), learned(1.10, 1.10, 1.10));
  EXPECT_EQ(verdict.standing, Standing::behind);
  EXPECT_NEAR(verdict.ratio.value, 27.6, 0.1);
  EXPECT_GT(*verdict.ratio.low, 20);
}

// Rounding once moved 100 steps to 109, and the verdict was 7.56 times faster instead of 6.93.
TEST(Verdict, RoundingIsNobodysMerit) {
  std::vector<Contender> runs{exact(100, 0.1), exact(109, 0.693)};
  EXPECT_NEAR(align_exact(runs), 9, 1e-9);
  const Verdict verdict = decide(runs[0], runs[1]);
  EXPECT_NEAR(verdict.ratio.value, 6.93, 1e-9);
  EXPECT_EQ(verdict.standing, Standing::behind);
  EXPECT_NEAR(runs[1].seconds, 69.3, 1e-9);
}

TEST(Verdict, RoundingLetsNobodyMissTheTarget) {
  std::vector<Contender> runs{exact(std::nullopt, 1), exact(40, 0.5), exact(std::nullopt, 0.51)};
  EXPECT_EQ(align_exact(runs), -1);
  EXPECT_NEAR(runs[0].seconds, 40, 1e-9);
  EXPECT_EQ(decide(runs[1], runs[0]).standing, Standing::behind);
  EXPECT_EQ(decide(runs[1], runs[2]).standing, Standing::equal);
  // A run that is not exact keeps its own arrivals.
  runs.push_back(learned(7, 1, 1));
  runs.back().arrivals = {std::nullopt};
  align_exact(runs);
  EXPECT_FALSE(runs.back().arrivals[0].has_value());
}

TEST(Verdict, AlignedRunsStayAsTheyAre) {
  std::vector<Contender> runs{exact(100, 0.1), exact(100, 0.3)};
  EXPECT_EQ(align_exact(runs), 0);
  EXPECT_EQ(runs[1].seconds, exact(100, 0.3).seconds);
}

TEST(Verdict, RelativeStepsCountAtScale) {
  Contender plain{.seconds = 100, .exact = true, .relative = Estimate{1, {}, {}}};
  Contender other{.seconds = 120, .relative = Estimate{1.2, 0.9, 1.6}};
  const Verdict verdict = decide(plain, other);
  EXPECT_EQ(verdict.standing, Standing::undecided);
  EXPECT_NEAR(*verdict.ratio.low, 0.9, 1e-9);
  EXPECT_NEAR(*verdict.ratio.high, 1.6, 1e-9);
  // The interval is that of the run compared against: the smaller its value, the larger the ratio.
  const Verdict turned = decide({.seconds = 100, .relative = Estimate{1, 0.8, 1.6}}, {.seconds = 120});
  EXPECT_NEAR(*turned.ratio.low, 1.2 / 1.6, 1e-9);
  EXPECT_NEAR(*turned.ratio.high, 1.2 / 0.8, 1e-9);
}

TEST(Verdict, OfNothingThereIsNoRatio) {
  EXPECT_EQ(decide({.seconds = 0}, {.seconds = 0}).standing, Standing::equal);
  EXPECT_EQ(decide({.seconds = 0}, {.seconds = 3}).standing, Standing::behind);
}

}  // namespace
}  // namespace dadsim::estimate
