#include "schedule/step_kinds.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace dadsim::schedule {
namespace {

using namespace step;  // NOLINT(google-build-using-namespace): a schedule consists of steps

TEST(StepKinds, OfReplicasOfSeveralDevicesEveryDeviceCounts) {
  // Two replicas have three stages each, with two parts of the sequences of two tensor-parallel devices per stage.
  Schedule schedule;
  schedule.workers = 24;
  schedule.tensor = 2;
  schedule.context = 2;
  schedule.pipeline = 3;
  ComputeTask compute;
  compute.flops = PerWorker({10, 20});
  CollectiveTask reduced{CollectiveKind::all_reduce, PerWorker({5}), "ring"};
  reduced.among = Among::tensor;
  CollectiveTask sent{CollectiveKind::stage_send, PerWorker({1, 3}), "auto"};
  sent.among = Among::stages;
  sent.to_stage = 2;
  schedule.tasks = {{"", compute, 0}, {"", compute}, {"", reduced, 1}, {"", sent, 1}};
  Schedule other = schedule;
  other.tensor = 3;
  other.pipeline = 2;
  const std::vector<Schedule> schedules{schedule, other, schedule};
  const StepKinds kinds(schedules);
  EXPECT_EQ(kinds.of(), (std::vector<std::size_t>{0, 1, 0}));
  const StepKinds::Kind& kind = kinds.kinds().at(0);
  EXPECT_EQ(kind.size.flops, 30 * 4 + 30 * 12);
  EXPECT_EQ(kind.size.bytes, 10 * 4 + 4 * 4);
  EXPECT_EQ(kind.elsewhere, (std::vector<std::size_t>{2, 3}));
}

}  // namespace
}  // namespace dadsim::schedule
