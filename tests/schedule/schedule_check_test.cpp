#include "schedule/schedule_check.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace dadsim::schedule {
namespace {

using namespace step;  // NOLINT(google-build-using-namespace): a schedule consists of steps

PerWorker same(double value) { return PerWorker(std::vector<double>{value}); }

Schedule of(Task task, std::size_t workers = 3) {
  Schedule schedule;
  schedule.workers = workers;
  schedule.tasks.push_back(std::move(task));
  return schedule;
}

Schedule exchange(std::vector<std::vector<std::int32_t>> to) {
  CollectiveTask task{CollectiveKind::neighbour_exchange, same(8), "auto"};
  task.neighbours = std::make_shared<const Neighbours>(Neighbours{std::move(to)});
  return of({"layer", task});
}

TEST(ScheduleCheck, AGraphOfNeighboursIsOfAllWorkersWithoutLoopsAndDoubles) {
  EXPECT_EQ(fault_of(exchange({{1}, {2}, {0}}), 3, false), "");
  EXPECT_EQ(fault_of(exchange({{1}, {}, {0, 1}}), 8, false), "");  // a directed graph, in which some ranks send nothing
  EXPECT_EQ(fault_of(exchange({{1}, {2}}), 3, false), "task 0 (layer) has neighbours of 2 workers instead of 3");
  EXPECT_EQ(fault_of(exchange({{1}, {3}, {0}}), 3, false),
            "task 0 (layer) lets worker 1 send to 3; workers are 0 to 2");
  EXPECT_EQ(fault_of(exchange({{1}, {-1}, {0}}), 3, false),
            "task 0 (layer) lets worker 1 send to -1; workers are 0 to 2");
  EXPECT_EQ(fault_of(exchange({{1}, {1}, {0}}), 3, false), "task 0 (layer) lets worker 1 send to itself");
  EXPECT_EQ(fault_of(exchange({{1}, {2, 0, 2}, {0}}), 3, false), "task 0 (layer) lets worker 1 send to 2 twice");
}

TEST(ScheduleCheck, NeighboursBelongToAnExchangeWithThem) {
  EXPECT_EQ(fault_of(of({"layer", CollectiveTask{CollectiveKind::neighbour_exchange, same(8), "auto"}}), 3, false),
            "task 0 (layer) lacks its neighbours");
  CollectiveTask task{CollectiveKind::all_gather, same(8), "ring"};
  task.neighbours = std::make_shared<const Neighbours>(Neighbours{{{1}, {2}, {0}}});
  EXPECT_EQ(fault_of(of({"layer", task}), 3, false), "task 0 (layer) has neighbours, but is not a neighbour exchange");
}

TEST(ScheduleCheck, WorkersAndTheAggregatorAreThere) {
  EXPECT_EQ(fault_of(of({}, 0), 3, false), "has no workers");
  EXPECT_EQ(fault_of(of({}, 4), 3, false), "is for 4 workers, but the cluster has 3");
  Schedule star = of({"layer", CollectiveTask{CollectiveKind::gather, same(8), "auto"}});
  EXPECT_EQ(fault_of(star, 3, true), "task 0 (layer) needs an aggregator, but the step has no aggregator");
  star.uses_aggregator = true;
  EXPECT_EQ(fault_of(star, 3, true), "");
  EXPECT_EQ(fault_of(star, 3, false), "uses an aggregator, but the cluster has no aggregator");
}

TEST(ScheduleCheck, GraphsThatAreEqualMakeSchedulesEqual) {
  EXPECT_EQ(exchange({{1}, {2}, {0}}), exchange({{1}, {2}, {0}}));
  EXPECT_NE(exchange({{1}, {2}, {0}}), exchange({{1}, {2}, {}}));
}

TEST(Schedule, RepeatedWaitsForItsOwnCollectives) {
  Schedule schedule = exchange({{1}, {2}, {0}});
  schedule.tasks.push_back({"layer", WaitTask{Role::workers, 0}});
  const Schedule twice = repeated(schedule, 2);
  ASSERT_EQ(twice.tasks.size(), 4U);
  EXPECT_EQ(std::get<WaitTask>(twice.tasks[3].what).collective, 2);
  EXPECT_FALSE(has_barrier(twice));
}

Task staged(std::int32_t from, std::int32_t to, PerWorker bytes) {
  CollectiveTask task{CollectiveKind::stage_send, std::move(bytes)};
  task.among = Among::stages;
  task.to_stage = to;
  return {"layer", task, from};
}

/// Returns a schedule of two replicas of two stages.
Schedule pipeline_of(std::vector<Task> tasks) {
  Schedule schedule;
  schedule.workers = 4;
  schedule.pipeline = 2;
  schedule.tasks = std::move(tasks);
  return schedule;
}

TEST(ScheduleCheck, ReplicasAreOfAsManyDevicesAsThereAre) {
  Schedule schedule = pipeline_of({});
  EXPECT_EQ(fault_of(schedule, 4, false), "");
  schedule.tensor = 3;
  EXPECT_EQ(fault_of(schedule, 4, false), "has 4 devices, which replicas of 6 devices do not divide");
  schedule.tensor = 0;
  EXPECT_EQ(fault_of(schedule, 4, false), "has replicas without devices");
  schedule.tensor = 1;
  schedule.uses_aggregator = true;
  EXPECT_EQ(fault_of(schedule, 4, true), "has replicas of several devices, but uses an aggregator");
}

TEST(ScheduleCheck, AmountsAreThoseOfReplicas) {
  ComputeTask task;
  task.flops = PerWorker({1, 2});
  EXPECT_EQ(fault_of(pipeline_of({{"layer", task, 1}}), 4, false), "");
  EXPECT_EQ(fault_of(pipeline_of({staged(0, 1, PerWorker({1, 2}))}), 4, false), "");
  Schedule three = pipeline_of({staged(0, 1, PerWorker({1, 2}))});
  three.workers = 6;
  EXPECT_EQ(fault_of(three, 6, false), "task 0 (layer) has values for too few workers");
}

TEST(ScheduleCheck, StagesSendToOthersThatAreThere) {
  EXPECT_EQ(fault_of(pipeline_of({staged(0, 1, same(8)), staged(1, 0, same(8))}), 4, false), "");
  EXPECT_EQ(fault_of(pipeline_of({staged(0, 2, same(8))}), 4, false),
            "task 0 (layer) sends from stage 0 to stage 2, but the pipeline has 2 stages");
  EXPECT_EQ(fault_of(pipeline_of({staged(1, 1, same(8))}), 4, false), "task 0 (layer) sends from stage 1 to itself");
  EXPECT_EQ(fault_of(pipeline_of({staged(kEveryStage, 1, same(8))}), 4, false),
            "task 0 (layer) lacks the sending stage");
  EXPECT_EQ(fault_of(pipeline_of({staged(2, 1, same(8))}), 4, false),
            "task 0 (layer) is for stage 2, but the pipeline has 2 stages");
  Task send = staged(0, 1, same(8));
  std::get<CollectiveTask>(send.what).among = Among::replicas;
  EXPECT_EQ(fault_of(pipeline_of({send}), 4, false), "task 0 (layer) is a stage_send, but not between stages");
}

TEST(ScheduleCheck, WhoeverWaitsHasAPartInIt) {
  const auto wait = [](std::int32_t stage) { return Task{"layer", WaitTask{Role::workers, 0}, stage}; };
  EXPECT_EQ(fault_of(pipeline_of({staged(0, 1, same(8)), wait(0), wait(1)}), 4, false), "");
  EXPECT_EQ(fault_of(pipeline_of({staged(0, 1, same(8)), wait(kEveryStage)}), 4, false),
            "task 1 (layer) lets devices wait for task 0, in which they do not take part");
  CollectiveTask reduced{CollectiveKind::all_reduce, same(8), "ring"};
  EXPECT_EQ(fault_of(pipeline_of({{"layer", reduced}, wait(0)}), 4, false), "");
  EXPECT_EQ(fault_of(pipeline_of({{"layer", reduced, 0}, wait(1)}), 4, false),
            "task 1 (layer) lets devices wait for task 0, in which they do not take part");
  reduced.among = Among::tensor;
  EXPECT_EQ(fault_of(pipeline_of({{"layer", reduced, 0}}), 4, false), "");  // a group of one rank ends at once
  EXPECT_EQ(fault_of(of({"layer", reduced}), 3, false),
            "task 0 (layer) is among devices of a replica, but a replica has one device");
}

}  // namespace
}  // namespace dadsim::schedule
