#include "step/step_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

namespace dadsim::step {
namespace {

std::vector<double> of_picked(const StepSample& sample, const std::vector<double>& seconds) {
  std::vector<double> picked;
  for (const std::size_t i : sample.picked()) picked.push_back(seconds[i]);
  return picked;
}

double total(const std::vector<StepSample::SampledStep>& steps, const std::vector<double>& seconds) {
  double sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) sum += steps[i].occurrences * seconds[i];
  return sum;
}

/// Returns steps whose sizes are in random order.
std::vector<StepSample::SampledStep> some_steps(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t limit) { return static_cast<double>(random() % limit); };
  std::vector<StepSample::SampledStep> steps;
  for (std::size_t i = 0; i < count; ++i)
    steps.push_back({1e5 + below(1'000'000), 1e6 + below(1'000'000), 1 + below(3)});
  return steps;
}

TEST(StepSample, PicksTheFirstTheLeastAndTheMost) {
  const std::vector<StepSample::SampledStep> steps = some_steps(500, 1);
  const StepSample sample(steps, 20);
  const auto& picked = sample.picked();
  EXPECT_EQ(picked.size(), 20U);
  EXPECT_EQ(picked.front(), 0U);
  EXPECT_TRUE(std::ranges::is_sorted(picked));
  EXPECT_EQ(std::ranges::adjacent_find(picked), picked.end());
  const auto [least, most] = std::ranges::minmax_element(steps, {}, &StepSample::SampledStep::bytes);
  EXPECT_TRUE(std::ranges::binary_search(picked, static_cast<std::size_t>(least - steps.begin())));
  EXPECT_TRUE(std::ranges::binary_search(picked, static_cast<std::size_t>(most - steps.begin())));
}

TEST(StepSample, StandsForEveryStepOfTheRun) {
  for (const std::size_t most : {3U, 8U, 31U, 499U}) {
    const std::vector<StepSample::SampledStep> steps = some_steps(500, 2);
    const StepSample sample(steps, most);
    ASSERT_EQ(sample.picked().size(), most);
    double run = 0;
    for (const StepSample::SampledStep& step : steps) run += step.occurrences;
    EXPECT_NEAR(std::accumulate(sample.weights().begin(), sample.weights().end(), 0.0), run, 1e-9 * run);
    for (std::size_t i = 0; i < most; ++i) EXPECT_GE(sample.weights()[i], steps[sample.picked()[i]].occurrences);
  }
}

TEST(StepSample, TakesAllIfTheyAreNoMore) {
  const std::vector<StepSample::SampledStep> steps = some_steps(7, 3);
  const StepSample sample(steps, 8);
  EXPECT_EQ(sample.picked().size(), 7U);
  std::vector<double> seconds(7);
  std::iota(seconds.begin(), seconds.end(), 1);
  EXPECT_EQ(sample.interpolate(of_picked(sample, seconds)), seconds);
  EXPECT_EQ(sample.error(of_picked(sample, seconds)).mean, 0);
}

TEST(StepSample, AStepThatOccursMostOfTheTimeIsPicked) {
  std::vector<StepSample::SampledStep> steps = some_steps(300, 4);
  steps[123] = {7e5, 1e6, 1e6};
  const StepSample sample(steps, 5);
  EXPECT_TRUE(std::ranges::binary_search(sample.picked(), 123U));
}

TEST(StepSample, IsExactWhereTimesFollowBytes) {
  const std::vector<StepSample::SampledStep> steps = some_steps(400, 5);
  std::vector<double> seconds;
  for (const StepSample::SampledStep& step : steps) seconds.push_back(0.02 + step.bytes / 1.25e7);
  const StepSample sample(steps, 10);
  const std::vector<double> picked = of_picked(sample, seconds);
  const std::vector<double> all = sample.interpolate(picked);
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_NEAR(all[i], seconds[i], 1e-12);
  EXPECT_LT(sample.error(picked).step, 1e-12);
  EXPECT_LT(sample.error(picked).mean, 1e-12);
}

TEST(StepSample, FollowsFlopsWhereAllSendTheSame) {
  std::vector<StepSample::SampledStep> steps = some_steps(100, 6);
  std::vector<double> seconds;
  for (StepSample::SampledStep& step : steps) {
    step.bytes = 1e6;
    seconds.push_back(1 + step.flops / 1e6);
  }
  const StepSample sample(steps, 8);
  const std::vector<double> all = sample.interpolate(of_picked(sample, seconds));
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_NEAR(all[i], seconds[i], 1e-12);
}

TEST(StepSample, AndTheOrderWhereTheyAreEqualInBoth) {
  const std::vector<StepSample::SampledStep> steps(5, {1e6, 1e6, 1});
  const StepSample sample(steps, 3);
  EXPECT_EQ(sample.picked(), (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_EQ(sample.interpolate({1, 2, 5}), (std::vector<double>{1, 1.5, 2, 3.5, 5}));
}

TEST(StepSample, KnowsHowFarItIsOff) {
  // Noise of 2 % is added to a line with a bend. Over many runs, the reported error must equal the actual one.
  double step_square = 0;
  double said_step_square = 0;
  double mean_square = 0;
  double said_mean_square = 0;
  constexpr int kRuns = 200;
  for (std::uint32_t run = 0; run < kRuns; ++run) {
    const std::vector<StepSample::SampledStep> steps = some_steps(600, 100 + run);
    std::mt19937 random(run);
    std::normal_distribution<double> noise(0, 0.02);
    std::vector<double> seconds;
    for (const StepSample::SampledStep& step : steps)
      seconds.push_back((1 + std::max(0.0, step.bytes / 1e6 - 0.5)) * (1 + noise(random)));
    const StepSample sample(steps, 32);
    const std::vector<double> picked = of_picked(sample, seconds);
    const std::vector<double> all = sample.interpolate(picked);
    double run_steps = 0;
    double squares = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      run_steps += steps[i].occurrences;
      squares += (all[i] - seconds[i]) * (all[i] - seconds[i]);
    }
    const double mean = total(steps, seconds) / run_steps;
    step_square += squares / static_cast<double>(steps.size() - sample.picked().size()) / mean / mean;
    mean_square += std::pow(total(steps, all) / total(steps, seconds) - 1, 2);
    const StepSample::Error said = sample.error(picked);
    said_step_square += said.step * said.step;
    said_mean_square += said.mean * said.mean;
  }
  EXPECT_NEAR(std::sqrt(said_step_square / step_square), 1, 0.1);
  EXPECT_NEAR(std::sqrt(said_mean_square / mean_square), 1, 0.2);
  EXPECT_LT(std::sqrt(mean_square / kRuns), 0.006);
}

TEST(StepSample, NeedsThreeSteps) { EXPECT_THROW(StepSample(some_steps(10, 7), 2), std::invalid_argument); }

}  // namespace
}  // namespace dadsim::step
