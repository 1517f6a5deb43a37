#include "estimate/efficiency.hpp"

#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <stdexcept>

#include "support/random.hpp"

namespace dadsim::estimate {
namespace {

TEST(RatioOfMeans, IsFiellersByHand) {
  // Fieller's interval for x = 9, 10, 11 and y = 18, 21, 24: means 10 and 21, s_xx = 1, s_xy = 3, s_yy = 9. With
  // t(0.975, 2) = 4.302653, t² ÷ 3 = 6.170940, a = 93.829060, b = 191.487180, c = 385.461538.
  const Estimate estimate = ratio_of_means({18, 21, 24}, {9, 10, 11});
  EXPECT_DOUBLE_EQ(estimate.value, 2.1);
  EXPECT_NEAR(estimate.low.value(), 1.8025326, 1e-7);
  EXPECT_NEAR(estimate.high.value(), 2.2790852, 1e-7);
}

TEST(RatioOfMeans, WithoutScatterIsAPoint) {
  const Estimate same = ratio_of_means({30, 30, 30}, {20, 20, 20});
  EXPECT_EQ(same.value, 1.5);
  EXPECT_DOUBLE_EQ(same.low.value(), 1.5);
  EXPECT_DOUBLE_EQ(same.high.value(), 1.5);
  // If both runs scatter in proportion, their paired ratio does not scatter, which is the purpose of pairing.
  const Estimate paired = ratio_of_means({20, 22, 24}, {10, 11, 12});
  EXPECT_NEAR(paired.low.value(), 2, 1e-6);
  EXPECT_NEAR(paired.high.value(), 2, 1e-6);
}

TEST(RatioOfMeans, HasNoIntervalWhereThereIsNone) {
  EXPECT_FALSE(ratio_of_means({30}, {20}).low) << "one seed";
  const Estimate wild = ratio_of_means({30, 10}, {1, 100});
  EXPECT_FALSE(wild.low) << "the mean of x may be 0";
  EXPECT_FALSE(wild.high);
  EXPECT_THROW(ratio_of_means({}, {}), std::invalid_argument);
  EXPECT_THROW(ratio_of_means({1, 2}, {1}), std::invalid_argument);
  EXPECT_THROW(ratio_of_means({1}, {0}), std::invalid_argument);
}

TEST(RatioOfMeans, IntervalHoldsTheTruthNinetyFiveTimesInAHundred) {
  constexpr int kTrials = 4000;
  RandomStream random(1, Purpose::test);
  boost::random::normal_distribution<double> normal;
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> x;
    std::vector<double> y;
    for (int seed = 0; seed < 5; ++seed) {
      const double shared = normal(random);
      x.push_back(100 + 10 * shared + 5 * normal(random));
      y.push_back(130 + 13 * shared + 10 * normal(random));
    }
    const Estimate estimate = ratio_of_means(y, x);
    held += estimate.low && *estimate.low <= 1.3 && 1.3 <= *estimate.high ? 1 : 0;
  }
  // 0.0103 are three standard deviations of the binomial share.
  EXPECT_NEAR(static_cast<double>(held) / kTrials, 0.95, 0.0103);
}

/// Returns a target that was reached exactly at `step`, as evaluations at every step would find.
std::optional<Passage> at(std::int64_t step) { return Passage{step - 1, step, static_cast<double>(step)}; }

TEST(RelativeSteps, SayWhoDidNotReachTheTarget) {
  const StepsToTarget both{at(100), at(120)};
  EXPECT_DOUBLE_EQ(relative_steps({at(150), at(180)}, both).ratio.value().value, 1.5);
  const auto missed = [](bool of_gradient_sharing, double missing, double seeds) {
    return Statement{"target-not-reached"}
        .with("of_gradient_sharing", of_gradient_sharing)
        .with("seeds_missed", missing)
        .with("seeds", seeds);
  };
  EXPECT_EQ(relative_steps({at(150), std::nullopt}, both).why_not, missed(false, 1, 2));
  EXPECT_FALSE(relative_steps({at(150), std::nullopt}, both).ratio);
  EXPECT_EQ(relative_steps(both, {std::nullopt, std::nullopt}).why_not, missed(true, 2, 2));
  EXPECT_EQ(relative_steps({std::nullopt}, {at(10)}).why_not, missed(false, 1, 1));
  EXPECT_EQ(relative_steps({at(1)}, {Passage{0, 0, 0}}).why_not, Statement{"met-before-training"});
  EXPECT_THROW(relative_steps({at(1)}, {}), std::invalid_argument);
}

TEST(RelativeSteps, HoldAllThatLiesBetweenEvaluations) {
  // Both runs reach the target between steps 50 and 100 with every seed, so the ratio is between 51 ÷ 100 and 100 ÷ 51.
  const StepsToTarget coarse{Passage{50, 100, 80}, Passage{50, 100, 80}};
  const Estimate ratio = relative_steps(coarse, coarse).ratio.value();
  EXPECT_DOUBLE_EQ(ratio.value, 1);
  EXPECT_DOUBLE_EQ(ratio.low.value(), 0.51);
  EXPECT_DOUBLE_EQ(ratio.high.value(), 100.0 / 51);
  EXPECT_FALSE(relative_steps({coarse[0]}, {coarse[0]}).ratio.value().low) << "one seed tells nothing of others";
}

TEST(PassageOf, IsWhereTheCurveMeetsTheTarget) {
  const auto point = [](std::int64_t step, double accuracy) {
    step::Evaluation at;
    at.step = step;
    at.accuracy = accuracy;
    return at;
  };
  const std::vector<step::Evaluation> curve{point(0, 0.1), point(10, 0.5), point(20, 0.9), point(30, 0.8)};
  EXPECT_EQ(passage_of(curve, 0.8), (Passage{10, 20, 17.5}));
  EXPECT_EQ(passage_of(curve, 0.9), (Passage{10, 20, 20}));
  EXPECT_EQ(passage_of(curve, 0.05), (Passage{0, 0, 0}));
  EXPECT_FALSE(passage_of(curve, 0.95));
}

TEST(TimeAtScale, IsTheProductAndWhatIsCharged) {
  const Estimate relative{1.5, 1.2, 2.0};
  const Estimate plain = time_at_scale(1000, relative, 0.1, {});
  EXPECT_DOUBLE_EQ(plain.value, 150);
  EXPECT_DOUBLE_EQ(plain.low.value(), 120);
  EXPECT_DOUBLE_EQ(plain.high.value(), 200);
  // 1,500 steps are evaluated after 400, 800, 1,200 and at the end.
  const Charges charges{.evaluation_every = 400, .evaluation_seconds = 7, .start_up_seconds = 60};
  EXPECT_DOUBLE_EQ(time_at_scale(1000, relative, 0.1, charges).value, 150 + 4 * 7 + 60);
  EXPECT_FALSE(time_at_scale(1000, {1.5, {}, {}}, 0.1, charges).low);
}

}  // namespace
}  // namespace dadsim::estimate
