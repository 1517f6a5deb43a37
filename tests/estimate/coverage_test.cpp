// Tests that the interval of relative steps contains the result that evaluations at every step would give.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

#include "estimate/efficiency.hpp"
#include "support/random.hpp"

namespace dadsim::estimate {
namespace {

constexpr std::int64_t kCurveSteps = 1500;

/// Drawn learning curves: speed, noise, and how much slower the compared run is.
struct Drawn {
  std::size_t seeds = 0;
  std::int64_t every = 0;  ///< steps between evaluations
  double ratio = 0;        ///< true ratio of the mean steps
  double steps = 0;        ///< steps after which the reference has done 63 % of its learning
  double noise = 0;        ///< standard deviation of an accuracy from step to step
  double target = 0;
};

template <class Value, std::size_t kCount>
Value one_of(const std::array<Value, kCount>& values, RandomStream& random) {
  return values[boost::random::uniform_int_distribution<std::size_t>(0, kCount - 1)(random)];
}

Drawn draw(RandomStream& random) {
  return {one_of(std::array<std::size_t, 5>{3, 4, 5, 6, 8}, random),
          one_of(std::array<std::int64_t, 5>{2, 5, 10, 25, 50}, random),
          one_of(std::array{0.9, 1.0, 1.1, 1.3, 1.6, 2.2}, random),
          one_of(std::array{15.0, 40.0, 80.0}, random),
          one_of(std::array{0.002, 0.006, 0.015}, random),
          one_of(std::array{0.8, 0.9}, random)};
}

/// Draws an accuracy curve from 0.1 to 0.97, whose noise keeps half of its value from step to step.
std::vector<step::Evaluation> curve_of(const Drawn& drawn, double steps, RandomStream& random) {
  boost::random::normal_distribution<double> normal;
  std::vector<step::Evaluation> curve;
  double noise = 0;
  for (std::int64_t step = 0; step <= kCurveSteps; ++step) {
    noise = 0.5 * noise + drawn.noise * std::sqrt(0.75) * normal(random);
    step::Evaluation at;
    at.step = step;
    at.accuracy = std::clamp(0.1 + 0.87 * (1 - std::exp(-static_cast<double>(step) / steps)) + noise, 0.0, 1.0);
    curve.push_back(at);
  }
  return curve;
}

std::vector<step::Evaluation> every_so_many(const std::vector<step::Evaluation>& curve, std::int64_t steps) {
  std::vector<step::Evaluation> some;
  for (const step::Evaluation& at : curve) {
    if (at.step % steps == 0) some.push_back(at);
  }
  return some;
}

/// Replaces each interval by the first step that reached the target, as if every step had been evaluated.
StepsToTarget to_the_step(StepsToTarget steps) {
  for (auto& one : steps) one->between = static_cast<double>(one->at);
  return steps;
}

struct Trial {
  Estimate coarse;
  double fine = 0;  ///< result with evaluations at every step and the same seeds
};

Trial try_once(const Drawn& drawn, RandomStream& random) {
  boost::random::normal_distribution<double> normal;
  StepsToTarget coarse[2], fine[2];
  for (std::size_t seed = 0; seed < drawn.seeds; ++seed) {
    const double shared = std::exp(0.08 * normal(random));
    for (const std::size_t slower : {0U, 1U}) {
      const double own = std::exp(0.05 * normal(random));
      const double steps = drawn.steps * (slower == 1 ? drawn.ratio : 1) * shared * own;
      const std::vector<step::Evaluation> curve = curve_of(drawn, steps, random);
      coarse[slower].push_back(passage_of(every_so_many(curve, drawn.every), drawn.target));
      fine[slower].push_back(passage_of(curve, drawn.target));
    }
  }
  return {relative_steps(coarse[1], coarse[0]).ratio.value(),
          relative_steps(to_the_step(fine[1]), to_the_step(fine[0])).ratio.value().value};
}

bool holds(const Estimate& estimate, double value) {
  return (!estimate.low || *estimate.low <= value) && (!estimate.high || value <= *estimate.high);
}

TEST(Coverage, IntervalsHoldWhatEvaluationsAtEveryStepSay) {
  constexpr int kTrials = 200;
  RandomStream random(1, Purpose::test);
  int fine = 0;
  int truth = 0;
  int exactly = 0;  // hits of an interval of width zero, which shows that the test can fail
  std::vector<double> widths;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Drawn drawn = draw(random);
    const Trial tried = try_once(drawn, random);
    fine += holds(tried.coarse, tried.fine) ? 1 : 0;
    truth += holds(tried.coarse, drawn.ratio) ? 1 : 0;
    exactly += std::abs(tried.coarse.value / tried.fine - 1) < 0.01 ? 1 : 0;
    if (tried.coarse.low && tried.coarse.high)
      widths.push_back((*tried.coarse.high - *tried.coarse.low) / tried.coarse.value);
  }
  std::ranges::sort(widths);
  std::printf("of %d intervals %d hold the fine answer, %d the truth; median width %.2f, %d values within 1 %%\n",
              kTrials, fine, truth, widths[widths.size() / 2], exactly);
  EXPECT_GE(fine, 186) << "93 % of 200";
  EXPECT_GE(truth, 186);
  EXPECT_LT(exactly, 100);
  EXPECT_GE(widths.size(), 190U) << "intervals with both ends";
  EXPECT_LT(widths[widths.size() / 2], 0.6);
}

}  // namespace
}  // namespace dadsim::estimate
