#include <gtest/gtest.h>

#include "study/setting/timed_as.hpp"

namespace dadsim::study {
namespace {

step::StepTiming took(double seconds) {
  step::StepTiming timing;
  timing.seconds = seconds;
  timing.compute_seconds = seconds;
  timing.bounds = {{"w1", "compute", seconds, 1}};
  return timing;
}

// 30 learned samples stand for 60 timed samples, which take 0.6 s at 100 samples per second.
TEST(InputLimit, NoStepIsShorterThanItsBatchTakes) {
  TimedAs timed;
  timed.sample_scale = 2;
  step::Trajectory trajectory;
  trajectory.distinct_steps.resize(2);
  trajectory.distinct_steps[0].sizes.samples = {10, 30};
  trajectory.distinct_steps[1].sizes.samples = {10, 10};
  sim::TimedRun timings;
  timings.steps = {took(0.5), took(0.5)};
  timings.first = took(0.7);
  limit_by_input(timed, trajectory, timings);
  EXPECT_EQ(timings.steps[0].seconds, 0.5) << "no limit";
  timed.input_rate = 100;
  limit_by_input(timed, trajectory, timings);
  EXPECT_DOUBLE_EQ(timings.steps[0].seconds, 0.6);
  EXPECT_DOUBLE_EQ(timings.steps[0].compute_seconds, 0.5);
  EXPECT_NEAR(timings.steps[0].exposed_seconds, 0.1, 1e-12);
  ASSERT_EQ(timings.steps[0].bounds.size(), 2U);
  EXPECT_EQ(timings.steps[0].bounds[1].resource, "input");
  EXPECT_NEAR(timings.steps[0].bounds[0].share + timings.steps[0].bounds[1].share, 1, 1e-12);
  EXPECT_EQ(timings.steps[1].seconds, 0.5) << "20 samples take 0.2 s";
  EXPECT_EQ(timings.first->seconds, 0.7);
}

TEST(InputLimit, StepsWithoutABarrierAreLimitedOneByOne) {
  TimedAs timed;
  timed.input_rate = 10;
  step::Trajectory trajectory;
  trajectory.distinct_steps.resize(1);
  trajectory.distinct_steps[0].sizes.samples = {10};
  sim::TimedRun timings;
  timings.steps = {took(0.5)};
  timings.first_steps = {2.0, 2.5, 4.5};
  limit_by_input(timed, trajectory, timings);
  EXPECT_EQ(timings.first_steps, (std::vector<double>{2.0, 3.0, 5.0}));
}

}  // namespace
}  // namespace dadsim::study
