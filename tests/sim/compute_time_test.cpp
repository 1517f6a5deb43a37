#include "sim/compute_time.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/star.hpp"

namespace dadsim {
namespace {

ComputeTask computation(Phase phase, Role who, double launches) {
  ComputeTask task;
  task.phase = phase;
  task.who = who;
  task.launches = PerWorker({launches});
  return task;
}

// A second per launch on the roofline; the measured step takes half a minute.
TEST(ComputeTime, AMeasuredStepIsDividedAndWhatTheAlgorithmAddsIsNot) {
  const ComputeTask forward = computation(Phase::forward, Role::workers, 2);
  const ComputeTask update = computation(Phase::update, Role::workers, 8);
  const ComputeTask factorise = computation(Phase::factorise, Role::workers, 5);
  const ComputeTask merge = computation(Phase::merge, Role::aggregator, 7);
  Schedule schedule;
  schedule.workers = 2;
  schedule.uses_aggregator = true;
  for (const ComputeTask& task : {forward, factorise, merge, update}) schedule.tasks.push_back({"fc1", task});

  const DeviceSpec on_roofline = test::clockwork();
  DeviceSpec measured = on_roofline;
  measured.step_seconds = 30;
  const std::vector<const DeviceSpec*> devices{&measured, &on_roofline, &measured};
  const ComputeTime time(devices, schedule);
  EXPECT_DOUBLE_EQ(time.seconds(0, forward, 0), 6);
  EXPECT_DOUBLE_EQ(time.seconds(0, update, 0), 24);
  EXPECT_DOUBLE_EQ(time.seconds(0, factorise, 0), 5);
  EXPECT_DOUBLE_EQ(time.seconds(1, forward, 1), 2);
  EXPECT_DOUBLE_EQ(time.seconds(2, merge, 0), 7);
}

}  // namespace
}  // namespace dadsim
