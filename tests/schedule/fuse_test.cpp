#include "schedule/fuse.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

namespace dadsim::schedule {
namespace {

using namespace step;  // NOLINT(google-build-using-namespace): a schedule consists of steps

constexpr double kMiB = 1024.0 * 1024.0;

Task all_reduce(const std::string& layer, double bytes, const std::string& algorithm = "auto") {
  return {layer, CollectiveTask{CollectiveKind::all_reduce, PerWorker({bytes}), algorithm}};
}
Task other(CollectiveKind kind) { return {"other", CollectiveTask{kind, PerWorker({5.0}), "auto"}}; }
Task compute(const std::string& layer) { return {layer, ComputeTask{}}; }
Task wait(std::int32_t collective, Role who = Role::workers) { return {"", WaitTask{who, collective}}; }

double bytes(const Task& task) { return std::get<CollectiveTask>(task.what).bytes[0]; }
std::int32_t awaited(const Task& task) { return std::get<WaitTask>(task.what).collective; }

/// Returns the backward pass of three layers, followed by the waits.
Schedule backward_pass(double layer_bytes) {
  return {2,
          false,
          {all_reduce("fc3", layer_bytes), compute("fc3"), all_reduce("fc2", layer_bytes), compute("fc2"),
           all_reduce("fc1", layer_bytes), wait(0), wait(2), wait(4)}};
}

TEST(Fuse, OneBucketIsIssuedWithItsLastMember) {
  const Schedule fused = fuse_all_reduces(backward_pass(100), 1e6);
  ASSERT_EQ(fused.tasks.size(), 4U);
  EXPECT_EQ(fused.tasks[0], compute("fc3"));
  EXPECT_EQ(fused.tasks[1], compute("fc2"));
  EXPECT_EQ(fused.tasks[2].layer, "fc3 … fc1");
  EXPECT_EQ(bytes(fused.tasks[2]), 300);
  EXPECT_EQ(awaited(fused.tasks[3]), 2) << "three waits for members become one";
  EXPECT_EQ(fused.workers, 2U);
}

TEST(Fuse, ABucketIsClosedOnceItHoldsEnough) {
  const Schedule fused = fuse_all_reduces(backward_pass(100), 200);
  ASSERT_EQ(fused.tasks.size(), 6U);
  EXPECT_EQ(fused.tasks[1].layer, "fc3 … fc2");
  EXPECT_EQ(bytes(fused.tasks[1]), 200);
  EXPECT_EQ(fused.tasks[3].layer, "fc1") << "a bucket of one keeps its name";
  EXPECT_EQ(awaited(fused.tasks[4]), 1);
  EXPECT_EQ(awaited(fused.tasks[5]), 3);
}

TEST(Fuse, TheFirstBucketIsSmaller) {
  const Schedule schedule = backward_pass(1.5 * kMiB);
  const Schedule fused = fuse_all_reduces(schedule, 25 * kMiB);
  ASSERT_EQ(fused.tasks.size(), 6U);
  EXPECT_EQ(fused.tasks[0].layer, "fc3");
  EXPECT_EQ(fused.tasks[3].layer, "fc2 … fc1");
  EXPECT_EQ(fuse_all_reduces(schedule, 25 * kMiB, 25 * kMiB).tasks.size(), 4U);
  EXPECT_EQ(fuse_all_reduces(schedule, 1 * kMiB, 25 * kMiB), schedule) << "never larger than the others";
}

TEST(Fuse, ZeroBytesLeaveTheScheduleAsItIs) {
  const Schedule schedule = backward_pass(100);
  EXPECT_EQ(fuse_all_reduces(schedule, 0), schedule);
  EXPECT_THROW(fuse_all_reduces(schedule, -1), std::invalid_argument);
  EXPECT_THROW(fuse_all_reduces(schedule, std::nan("")), std::invalid_argument);
  EXPECT_THROW(fuse_all_reduces(schedule, 1, -1), std::invalid_argument);
}

TEST(Fuse, AWaitForAMemberClosesTheBucket) {
  const Schedule schedule{2,
                          false,
                          {all_reduce("c", 1), all_reduce("b", 2), wait(1), wait(0), all_reduce("a", 4), wait(0),
                           all_reduce("z", 8), wait(4), wait(6)}};
  const Schedule fused = fuse_all_reduces(schedule, 1e6);
  ASSERT_EQ(fused.tasks.size(), 4U);
  EXPECT_EQ(bytes(fused.tasks[0]), 3);
  EXPECT_EQ(awaited(fused.tasks[1]), 0);
  EXPECT_EQ(fused.tasks[2].layer, "a … z") << "a wait for another bucket, long done, is no reason to close this one";
  EXPECT_EQ(awaited(fused.tasks[3]), 2);
}

TEST(Fuse, CollectivesOfTheWorkersKeepTheirOrder) {
  for (const CollectiveKind kind : {CollectiveKind::gather, CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    const Schedule schedule{2, true, {all_reduce("b", 1), other(kind), all_reduce("a", 2)}};
    EXPECT_EQ(fuse_all_reduces(schedule, 1e6), schedule);
  }
  const Schedule beside{2, true, {all_reduce("b", 1), other(CollectiveKind::broadcast), all_reduce("a", 2)}};
  const Schedule fused = fuse_all_reduces(beside, 1e6);
  ASSERT_EQ(fused.tasks.size(), 2U);
  EXPECT_EQ(fused.tasks[0], other(CollectiveKind::broadcast));
  EXPECT_EQ(bytes(fused.tasks[1]), 3);
}

TEST(Fuse, KeepsTheAlgorithm) {
  const Schedule schedule{
      2, false, {all_reduce("d", 1, "ring"), all_reduce("c", 2, "ring"), all_reduce("b", 4, "tree"), wait(0), wait(2)}};
  const Schedule fused = fuse_all_reduces(schedule, 1e6);
  ASSERT_EQ(fused.tasks.size(), 4U);
  EXPECT_EQ(fused.tasks[0], all_reduce("d … c", 3, "ring"));
  EXPECT_EQ(fused.tasks[1], all_reduce("b", 4, "tree"));
}

Schedule random_schedule() {
  Schedule schedule;
  schedule.workers = *rc::gen::inRange<std::size_t>(1, 5);
  schedule.uses_aggregator = true;
  const int count = *rc::gen::inRange(0, 40);
  std::vector<std::int32_t> issued;
  for (int i = 0; i < count; ++i) {
    Task task{"t" + std::to_string(i), ComputeTask{}};
    const int kind = *rc::gen::inRange(0, 10);
    if (kind < 5) {
      // Whole numbers have sums without rounding.
      std::vector<double> sizes;
      for (std::size_t w = 0; w < schedule.workers; ++w) sizes.push_back(*rc::gen::inRange(0, 100));
      task.what =
          CollectiveTask{CollectiveKind::all_reduce, PerWorker(sizes), *rc::gen::element<std::string>("ring", "tree")};
      issued.push_back(i);
    } else if (kind == 5) {
      task.what = CollectiveTask{*rc::gen::element(CollectiveKind::gather, CollectiveKind::broadcast), PerWorker({7.0}),
                                 "auto"};
      issued.push_back(i);
    } else if (kind < 8 && !issued.empty()) {
      task.what = WaitTask{*rc::gen::element(Role::workers, Role::aggregator), *rc::gen::elementOf(issued)};
    } else {
      std::get<ComputeTask>(task.what).flops = PerWorker({static_cast<double>(i)});
    }
    schedule.tasks.push_back(std::move(task));
  }
  return schedule;
}

bool is_all_reduce(const Task& task) {
  const auto* collective = std::get_if<CollectiveTask>(&task.what);
  return collective != nullptr && collective->kind == CollectiveKind::all_reduce;
}

using Waits = std::set<std::pair<Role, int>>;  ///< pairs of role and awaited collective

bool holds_all(const Waits& set, const Waits& subset) {
  return std::includes(set.begin(), set.end(), subset.begin(), subset.end());
}

/// Tasks are named "t<index>", and a bucket by its first and last task.
std::pair<int, int> members(const std::string& layer) {
  const std::string separator = " … ";
  const std::size_t at = layer.find(separator);
  const int first = std::stoi(layer.substr(1));
  return {first, at == std::string::npos ? first : std::stoi(layer.substr(at + separator.size() + 1))};
}

/// Checks laws of fusing for any schedule: no task is lost, only delayed all-reduces change their order, and every wait
/// remains, no later than before.
void check(const Schedule& before, const Schedule& after, double bucket_bytes, double first_bucket_bytes) {
  RC_ASSERT(after.workers == before.workers);
  RC_ASSERT(after.uses_aggregator == before.uses_aggregator);

  std::map<int, std::int32_t> bucket_of;  // index of an all-reduce before → index of its bucket after
  std::vector<Task> rest_before;
  std::vector<Task> rest_after;
  bool first = true;
  for (std::size_t i = 0; i < after.tasks.size(); ++i) {
    const Task& task = after.tasks[i];
    if (!is_all_reduce(task)) {
      if (!std::holds_alternative<WaitTask>(task.what)) rest_after.push_back(task);
      continue;
    }
    const auto& bucket = std::get<CollectiveTask>(task.what);
    const auto [from, to] = members(task.layer);
    std::vector<double> sums(before.workers, 0.0);
    bool full_before_last = false;
    for (int member = from; member <= to; ++member) {
      const Task& old = before.tasks[static_cast<std::size_t>(member)];
      if (!is_all_reduce(old)) continue;
      for (const double sum : sums)
        full_before_last |= member > from && sum >= (first ? std::min(first_bucket_bytes, bucket_bytes) : bucket_bytes);
      for (std::size_t w = 0; w < sums.size(); ++w) sums[w] += std::get<CollectiveTask>(old.what).bytes[w];
      RC_ASSERT(std::get<CollectiveTask>(old.what).algorithm == bucket.algorithm);
      RC_ASSERT(bucket_of.emplace(member, static_cast<std::int32_t>(i)).second);
    }
    RC_ASSERT(!full_before_last);
    for (std::size_t w = 0; w < sums.size(); ++w) RC_ASSERT(bucket.bytes[w] == sums[w]);
    first = false;
  }
  Waits waited_before;
  for (std::size_t i = 0; i < before.tasks.size(); ++i) {
    const Task& task = before.tasks[i];
    if (is_all_reduce(task)) RC_ASSERT(bucket_of.contains(static_cast<int>(i)));
    if (!is_all_reduce(task) && !std::holds_alternative<WaitTask>(task.what)) rest_before.push_back(task);
  }
  RC_ASSERT(rest_after == rest_before);

  // Goes through both schedules in step with their computations. A collective that was awaited before a computation in
  // the first schedule must also be awaited before it in the second.
  std::map<std::string, int> names;  // collectives that are not fused, by name
  for (std::size_t i = 0; i < before.tasks.size(); ++i) names[before.tasks[i].layer] = static_cast<int>(i);
  Waits waited_after;
  std::size_t at = 0;
  const auto advance_to = [&](const std::string* layer) {
    for (; at < after.tasks.size() && (layer == nullptr || after.tasks[at].layer != *layer); ++at) {
      const auto* w = std::get_if<WaitTask>(&after.tasks[at].what);
      if (w == nullptr) continue;
      RC_ASSERT(w->collective >= 0);
      RC_ASSERT(static_cast<std::size_t>(w->collective) < at);
      const Task& target = after.tasks[static_cast<std::size_t>(w->collective)];
      RC_ASSERT(std::holds_alternative<CollectiveTask>(target.what));
      if (!is_all_reduce(target)) {
        waited_after.insert({w->who, names.at(target.layer)});
        continue;
      }
      for (const auto& [member, bucket] : bucket_of) {
        if (bucket == w->collective) waited_after.insert({w->who, member});
      }
    }
  };
  for (const Task& task : before.tasks) {
    if (const auto* w = std::get_if<WaitTask>(&task.what)) waited_before.insert({w->who, w->collective});
    if (!std::holds_alternative<ComputeTask>(task.what)) continue;
    advance_to(&task.layer);
    RC_ASSERT(holds_all(waited_after, waited_before));
  }
  advance_to(nullptr);
  RC_ASSERT(holds_all(waited_after, waited_before));
}

TEST(Fuse, NothingIsLostInRandomSchedules) {
  const bool held = rc::check("totals, order and waits", [] {
    const Schedule schedule = random_schedule();
    const double bucket = *rc::gen::element(1.0, 50.0, 120.0, 400.0, std::numeric_limits<double>::infinity());
    const double first = *rc::gen::element(0.0, 30.0, 1e6);
    check(schedule, fuse_all_reduces(schedule, bucket, first), bucket, first);
  });
  EXPECT_TRUE(held);
}

TEST(Fuse, BucketsAreAsLargeAsTheyMayBe) {
  const bool held = rc::check("no two neighbours could be one", [] {
    const Schedule schedule = random_schedule();
    const Schedule fused =
        fuse_all_reduces(schedule, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity());
    // Two consecutive all-reduces may stay separate only for a reason: an algorithm, or a task between them.
    const Task* last = nullptr;
    bool reason = true;
    for (const Task& task : fused.tasks) {
      const auto* collective = std::get_if<CollectiveTask>(&task.what);
      if (std::holds_alternative<WaitTask>(task.what)) reason = true;
      if (collective == nullptr || collective->kind == CollectiveKind::broadcast) continue;
      if (is_all_reduce(task)) {
        if (last != nullptr && !reason)
          RC_ASSERT(std::get<CollectiveTask>(last->what).algorithm != collective->algorithm);
        last = &task;
        reason = false;
      } else {
        reason = true;
      }
    }
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace dadsim::schedule
