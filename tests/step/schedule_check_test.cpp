#include "step/schedule_check.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace dadsim::step {
namespace {

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
  EXPECT_EQ(fault_of(exchange({{1}, {}, {0, 1}}), 8, false), "");  // it may have a direction, and gaps
  EXPECT_EQ(fault_of(exchange({{1}, {2}}), 3, false), "task 0 (layer) has neighbours of 2 workers, and there are 3");
  EXPECT_EQ(fault_of(exchange({{1}, {3}, {0}}), 3, false),
            "task 0 (layer) lets worker 1 send to 3; workers are 0 to 2");
  EXPECT_EQ(fault_of(exchange({{1}, {-1}, {0}}), 3, false),
            "task 0 (layer) lets worker 1 send to -1; workers are 0 to 2");
  EXPECT_EQ(fault_of(exchange({{1}, {1}, {0}}), 3, false), "task 0 (layer) lets worker 1 send to itself");
  EXPECT_EQ(fault_of(exchange({{1}, {2, 0, 2}, {0}}), 3, false), "task 0 (layer) lets worker 1 send to 2 twice");
}

TEST(ScheduleCheck, NeighboursBelongToAnExchangeWithThem) {
  EXPECT_EQ(fault_of(of({"layer", CollectiveTask{CollectiveKind::neighbour_exchange, same(8), "auto"}}), 3, false),
            "task 0 (layer) does not say who the neighbours are");
  CollectiveTask task{CollectiveKind::all_gather, same(8), "ring"};
  task.neighbours = std::make_shared<const Neighbours>(Neighbours{{{1}, {2}, {0}}});
  EXPECT_EQ(fault_of(of({"layer", task}), 3, false), "task 0 (layer) has neighbours, and is no neighbour exchange");
}

TEST(ScheduleCheck, WorkersAndTheAggregatorAreThere) {
  EXPECT_EQ(fault_of(of({}, 0), 3, false), "has no workers");
  EXPECT_EQ(fault_of(of({}, 4), 3, false), "is for 4 workers, and the cluster has 3");
  Schedule star = of({"layer", CollectiveTask{CollectiveKind::gather, same(8), "auto"}});
  EXPECT_EQ(fault_of(star, 3, true), "task 0 (layer) needs an aggregator that is not used");
  star.uses_aggregator = true;
  EXPECT_EQ(fault_of(star, 3, true), "");
  EXPECT_EQ(fault_of(star, 3, false), "uses an aggregator, and the cluster has none");
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

}  // namespace
}  // namespace dadsim::step
