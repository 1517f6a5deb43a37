#include "sim/step/compute_time.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/star.hpp"

namespace dadsim::sim {
namespace {

schedule::ComputeTask computation(step::Phase phase, step::Role who, double launches) {
  schedule::ComputeTask task;
  task.phase = phase;
  task.who = who;
  task.launches = schedule::PerWorker({launches});
  return task;
}

// Each launch takes a second on the roofline. The measured 30 s are divided among the model's work; factorising and
// merging keep their roofline time.
TEST(ComputeTime, AMeasuredStepIsDividedAndWhatTheAlgorithmAddsIsNot) {
  const schedule::ComputeTask forward = computation(step::Phase::forward, step::Role::workers, 2);
  const schedule::ComputeTask update = computation(step::Phase::update, step::Role::workers, 8);
  const schedule::ComputeTask factorise = computation(step::Phase::factorise, step::Role::workers, 5);
  const schedule::ComputeTask merge = computation(step::Phase::merge, step::Role::aggregator, 7);
  schedule::Schedule schedule;
  schedule.workers = 2;
  schedule.uses_aggregator = true;
  for (const schedule::ComputeTask& task : {forward, factorise, merge, update}) schedule.tasks.push_back({"fc1", task});

  const spec::DeviceSpec on_roofline = test::clockwork();
  spec::DeviceSpec measured = on_roofline;
  measured.step_seconds = 30;
  const std::vector<const spec::DeviceSpec*> devices{&measured, &on_roofline, &measured};
  const ComputeTime time(devices, schedule);
  EXPECT_DOUBLE_EQ(time.seconds(0, forward, 0), 6);
  EXPECT_DOUBLE_EQ(time.seconds(0, update, 0), 24);
  EXPECT_DOUBLE_EQ(time.seconds(0, factorise, 0), 5);
  EXPECT_DOUBLE_EQ(time.seconds(1, forward, 1), 2);
  EXPECT_DOUBLE_EQ(time.seconds(2, merge, 0), 7);
}

TEST(ComputeTime, OfAPipelineADeviceIsMeasuredAtWhatItsStageDoes) {
  const schedule::ComputeTask forward = computation(step::Phase::forward, step::Role::workers, 2);
  const schedule::ComputeTask update = computation(step::Phase::update, step::Role::workers, 1);
  schedule::Schedule schedule;
  schedule.workers = 4;
  schedule.pipeline = 2;
  for (const std::int32_t stage : {0, 1, 1}) schedule.tasks.push_back({"block", forward, stage});
  schedule.tasks.push_back({"", update});
  spec::DeviceSpec measured = test::clockwork();
  measured.step_seconds = 30;
  const std::vector<const spec::DeviceSpec*> devices(4, &measured);
  const ComputeTime time(devices, schedule);
  EXPECT_DOUBLE_EQ(time.seconds(0, forward, 0), 20);
  EXPECT_DOUBLE_EQ(time.seconds(1, update, 1), 10);
  EXPECT_DOUBLE_EQ(time.seconds(2, forward, 0), 12);
  EXPECT_DOUBLE_EQ(time.seconds(3, update, 1), 6);
}

// The host runs ahead of the device, so the longer of the two sums over the step counts, not the longer time of each
// computation.
TEST(ComputeTime, AHostThatTakesLongerThanTheDeviceIsTheFloorOfAStep) {
  schedule::ComputeTask forward = computation(step::Phase::forward, step::Role::workers, 2);
  schedule::ComputeTask update = computation(step::Phase::update, step::Role::workers, 8);
  const schedule::ComputeTask factorise = computation(step::Phase::factorise, step::Role::workers, 5);
  forward.shape = {.host = 9};
  const spec::DeviceSpec device = test::clockwork();
  const std::vector<const spec::DeviceSpec*> devices{&device};
  schedule::Schedule schedule;
  schedule.workers = 1;
  for (const schedule::ComputeTask& task : {forward, update, factorise}) schedule.tasks.push_back({"fc1", task});
  EXPECT_DOUBLE_EQ(ComputeTime(devices, schedule).seconds(0, forward, 0), 2) << "9 s of 10";
  forward.shape = {.host = 14};
  std::get<schedule::ComputeTask>(schedule.tasks[0].what).shape = {.host = 14};
  std::get<schedule::ComputeTask>(schedule.tasks[1].what).shape = {.host = 6};
  const ComputeTime bound(devices, schedule);
  EXPECT_DOUBLE_EQ(bound.seconds(0, forward, 0), 4) << "20 s in place of 10";
  EXPECT_DOUBLE_EQ(bound.seconds(0, update, 0), 16);
  EXPECT_DOUBLE_EQ(bound.seconds(0, factorise, 0), 5);
  EXPECT_DOUBLE_EQ(seconds_in_schedule(device, schedule, forward, 0), 4);
}

}  // namespace
}  // namespace dadsim::sim
