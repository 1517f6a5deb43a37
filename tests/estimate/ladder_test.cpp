#include "estimate/ladder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace dadsim::estimate {
namespace {

std::vector<Rung> rungs_of(const std::vector<double>& size, const std::vector<double>& log_ratio) {
  std::vector<Rung> rungs;
  for (std::size_t i = 0; i < size.size(); ++i) rungs.push_back({{size[i]}, std::exp(log_ratio[i]), 0});
  return rungs;
}

// By hand: slope b = 0.505 ÷ 5, residuals −0.001, 0.008, −0.013, 0.006, t(0.95, 2) = 2.91999.
TEST(Ladder, ATrendIsFollowedWithTheIntervalOfANewObservation) {
  const Ladder ladder(rungs_of({0, 1, 2, 3}, {0, 0.11, 0.19, 0.31}));
  ASSERT_EQ(ladder.slopes().size(), 1U);
  EXPECT_TRUE(ladder.shows_trend());
  EXPECT_NEAR(ladder.slopes()[0].per_decade, 0.101, 1e-12);
  EXPECT_NEAR(ladder.slopes()[0].error, std::sqrt(0.00027 / 2 / 5), 1e-12);
  const LadderPrediction far = ladder.at({5}, 0.9);
  EXPECT_NEAR(std::log(far.ratio), 0.1525 + 0.101 * 3.5, 1e-12);
  EXPECT_NEAR(std::log(far.high / far.ratio), 2.91999 * std::sqrt(0.000135 * (1 + 0.25 + 3.5 * 3.5 / 5)), 1e-6);
  EXPECT_NEAR(far.low * far.high, far.ratio * far.ratio, 1e-12);
  EXPECT_DOUBLE_EQ(far.distance, 2);
  EXPECT_DOUBLE_EQ(ladder.at({1.5}, 0.9).distance, 0);
  EXPECT_DOUBLE_EQ(ladder.at({-0.5}, 0.9).distance, 0.5);
}

// The slope b = −0.04 has an error of 0.0566, so no trend is assumed. t(0.95, 3) = 2.35336 applies to the mean, and
// t(0.95, 2) to the slope, which may be −0.205 to 0.125.
TEST(Ladder, WithoutATrendItIsTheMeanAndWhatCannotBeExcluded) {
  const Ladder ladder(rungs_of({0, 1, 2, 3}, {0.1, -0.1, 0.1, -0.1}));
  EXPECT_FALSE(ladder.shows_trend());
  EXPECT_NEAR(ladder.slopes()[0].per_decade, -0.04, 1e-12);
  EXPECT_GT(ladder.slopes()[0].chance, 0.5);
  EXPECT_NEAR(ladder.spread(), std::sqrt(0.04 / 3), 1e-12);
  const LadderPrediction near = ladder.at({1.5}, 0.9);
  EXPECT_NEAR(near.ratio, 1, 1e-12);
  const double of_mean = 2.35336 * std::sqrt(0.04 / 3 * 1.25);
  EXPECT_NEAR(std::log(near.high), of_mean, 1e-5);
  const double open = 2.91999 * std::sqrt(0.016 / 5);
  const LadderPrediction far = ladder.at({3.5}, 0.9);
  EXPECT_NEAR(far.ratio, 1, 1e-12);
  EXPECT_NEAR(std::log(far.high), std::hypot(of_mean, 2 * (open - 0.04)), 1e-5);
  EXPECT_NEAR(std::log(far.low), -std::hypot(of_mean, 2 * (open + 0.04)), 1e-5);
}

TEST(Ladder, TheIntervalGrowsWithTheDistance) {
  for (const auto& log_ratio : {std::vector<double>{0, 0.11, 0.19, 0.31, 0.42}, {0.1, -0.1, 0.1, -0.1, 0.05}}) {
    const Ladder ladder(rungs_of({3, 3.5, 4, 4.5, 5}, log_ratio));
    double before = 0;
    for (double size = 5; size < 12; size += 0.5) {
      const LadderPrediction at = ladder.at({size}, 0.9);
      const double width = std::log(at.high / at.low);
      EXPECT_GT(width, before) << size;
      before = width;
    }
    EXPECT_GT(std::log(ladder.at({6}, 0.95).high / ladder.at({6}, 0.95).low),
              std::log(ladder.at({6}, 0.9).high / ladder.at({6}, 0.9).low));
  }
}

// Points that are on a line by chance must not make the interval narrower than the scatter of their seeds.
TEST(Ladder, SeedsAreTheLeastThatIsOpen) {
  std::vector<Rung> rungs = rungs_of({0, 1, 2, 3}, {0, 0.1, 0.2, 0.3});
  for (Rung& rung : rungs) rung.seed_variance = 0.0025;
  const Ladder ladder(rungs);
  EXPECT_TRUE(ladder.shows_trend());
  EXPECT_DOUBLE_EQ(ladder.spread(), 0.05);
  EXPECT_NEAR(std::log(ladder.at({3}, 0.9).high) - 0.3, 2.91999 * 0.05 * std::sqrt(1.25 + 1.5 * 1.5 / 5), 1e-6);
}

// ln(ratio) is 0.2 x₁ to within 0.004, and x₂ has no effect. The fit leaves out x₂, but the interval includes the slope
// that x₂ may have.
TEST(Ladder, KindsOfSizeThatDoNothingAreLeftOut) {
  std::vector<Rung> rungs;
  const std::array<double, 6> noise{0.003, 0.003, -0.004, -0.002, 0.001, -0.001};
  for (std::size_t i = 0; i < 6; ++i) {
    const auto first = static_cast<double>(i / 2);
    const auto second = static_cast<double>(i % 2);
    rungs.push_back({{first, second}, std::exp(0.2 * first + noise[i]), 0});
  }
  const Ladder ladder(rungs);
  EXPECT_TRUE(ladder.slopes()[0].shown);
  EXPECT_FALSE(ladder.slopes()[1].shown);
  EXPECT_NEAR(ladder.slopes()[0].per_decade, 0.2, 0.005);
  const auto width = [&](double first, double second) {
    const LadderPrediction at = ladder.at({first, second}, 0.9);
    return std::log(at.high / at.low);
  };
  EXPECT_GT(width(1, 4), width(1, 0.5));
  EXPECT_GT(width(4, 0.5), width(1, 0.5));
  EXPECT_NEAR(ladder.at({1, 4}, 0.9).ratio, ladder.at({1, 0}, 0.9).ratio, 1e-12);
}

TEST(Ladder, RefusesWhatTellsNothing) {
  EXPECT_THROW(Ladder(rungs_of({0, 1}, {0, 0})), std::invalid_argument);
  EXPECT_THROW(Ladder(rungs_of({2, 2, 2}, {0, 0.1, 0.2})), std::invalid_argument) << "a size that stands still";
  std::vector<Rung> rungs = rungs_of({0, 1, 2}, {0, 0.1, 0.2});
  rungs[1].ratio = 0;
  EXPECT_THROW(Ladder{rungs}, std::invalid_argument);
  rungs[1] = {{1, 2}, 1, 0};
  EXPECT_THROW(Ladder{rungs}, std::invalid_argument) << "different kinds";
  std::vector<Rung> same = rungs_of({0, 1, 2, 3}, {0, 0.1, 0.2, 0.3});
  for (Rung& rung : same) rung.size.push_back(2 * rung.size[0] + 1);
  EXPECT_THROW(Ladder{same}, std::invalid_argument) << "one follows from the other";
  EXPECT_THROW(Ladder(rungs_of({0, 1, 2}, {0, 0.1, 0.2})).at({1, 2}, 0.9), std::invalid_argument);
}

/// A drawn family of networks: its slope, the spread between networks, and the spread between seeds.
struct Family {
  double slope = 0, differ = 0, seeds = 0;
};

double drawn_rung(const Family& family, double size, std::size_t seeds, RandomStream& random, Rung& rung) {
  boost::random::normal_distribution<double> normal;
  const double truth = family.slope * size + family.differ * normal(random);
  double sum = 0;
  double squares = 0;
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    const double one = truth + family.seeds * normal(random);
    sum += one;
    squares += one * one;
  }
  const auto m = static_cast<double>(seeds);
  const double mean = sum / m;
  rung = {{size}, std::exp(mean), (squares - m * mean * mean) / (m - 1) / m};
  return rung.ratio;
}

// For any slope and spread, a 90 % interval must contain nine of ten new networks, near the rungs and two decades
// beyond. Intervals that include seeds and unknown slopes may be too wide but not too narrow.
TEST(Ladder, IntervalsOfDrawnFamiliesHoldWhatTheyPromise) {
  constexpr int kTrials = 400;
  RandomStream random(1, Purpose::test);
  int held_of_all = 0;
  int all = 0;
  for (const double slope : {0.0, 0.05, -0.15, 0.4}) {
    for (const double differ : {0.0, 0.03, 0.12}) {
      for (const double seeds : {0.02, 0.08}) {
        const Family family{slope, differ, seeds};
        for (const double beyond : {0.5, 2.0}) {
          int held = 0;
          std::vector<double> widths;
          for (int trial = 0; trial < kTrials; ++trial) {
            const auto count = boost::random::uniform_int_distribution<int>(4, 6)(random);
            std::vector<Rung> rungs(static_cast<std::size_t>(count));
            for (int i = 0; i < count; ++i)
              drawn_rung(family, 3 + 0.4 * i, 3, random, rungs[static_cast<std::size_t>(i)]);
            Rung next;
            const double size = 3 + 0.4 * (count - 1) + beyond;
            const double seen = drawn_rung(family, size, 3, random, next);
            const LadderPrediction at = Ladder(rungs).at({size}, 0.9);
            held += at.low <= seen && seen <= at.high ? 1 : 0;
            widths.push_back(std::log(at.high / at.low));
          }
          std::ranges::sort(widths);
          std::printf("slope %5.2f, networks %.2f, seeds %.2f, %.1f decades beyond: %5.1f %% held, width %.2f\n", slope,
                      differ, seeds, beyond, 100.0 * held / kTrials, widths[widths.size() / 2]);
          EXPECT_GE(held, kTrials * 83 / 100) << slope << " " << differ << " " << seeds << " " << beyond;
          held_of_all += held;
          all += kTrials;
        }
      }
    }
  }
  std::printf("%.1f %% of all\n", 100.0 * held_of_all / all);
  EXPECT_GE(held_of_all, all * 88 / 100);
  EXPECT_LE(held_of_all, all * 98 / 100) << "intervals that hold everything say nothing";
}

}  // namespace
}  // namespace dadsim::estimate
