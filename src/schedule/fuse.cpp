#include "schedule/fuse.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dadsim::schedule {
namespace {

/// All-reduces that are merged into one.
struct Bucket {
  std::vector<std::size_t> members;  ///< indices into Schedule::tasks, in order
  std::vector<double> bytes;         ///< CollectiveTask::bytes of each worker, added up over the members

  void add(std::size_t task, const PerWorker& more) {
    members.push_back(task);
    for (std::size_t worker = 0; worker < bytes.size(); ++worker) bytes[worker] += more[worker];
  }
  bool holds(std::size_t task) const { return std::ranges::find(members, task) != members.end(); }
};

/// Assigns the all-reduces to buckets, in the order of tasks.
std::vector<Bucket> deal(const Schedule& schedule, double bucket_bytes, double first_bucket_bytes) {
  const Bucket empty{{}, std::vector<double>(std::max<std::size_t>(schedule.workers, 1), 0.0)};
  std::vector<Bucket> buckets;
  Bucket open = empty;
  std::string algorithm;
  Among among = Among::replicas;
  const auto close = [&] {
    if (!open.members.empty()) buckets.push_back(std::exchange(open, empty));
  };
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    const auto& what = schedule.tasks[i].what;
    if (const auto* wait = std::get_if<WaitTask>(&what)) {
      if (open.holds(static_cast<std::size_t>(wait->collective))) close();
    } else if (const auto* collective = std::get_if<CollectiveTask>(&what)) {
      if (collective->kind == step::CollectiveKind::broadcast)
        continue;  // a broadcast is sent by the aggregator, and does not change the order of the workers' collectives
      if (collective->kind != step::CollectiveKind::all_reduce || collective->algorithm != algorithm ||
          collective->among != among)
        close();
      if (collective->kind != step::CollectiveKind::all_reduce) continue;
      algorithm = collective->algorithm;
      among = collective->among;
      open.add(i, collective->bytes);
      const double limit = buckets.empty() ? first_bucket_bytes : bucket_bytes;
      if (*std::ranges::max_element(open.bytes) >= limit) close();
    }
  }
  close();
  return buckets;
}

/// Returns the single task that carries out all members.
Task fused(const Schedule& schedule, const Bucket& bucket) {
  Task task = schedule.tasks[bucket.members.front()];
  const std::string& last = schedule.tasks[bucket.members.back()].layer;
  if (last != task.layer) task.layer += " … " + last;
  std::get<CollectiveTask>(task.what).bytes = PerWorker(bucket.bytes);
  return task;
}

}  // namespace

Schedule fuse_all_reduces(const Schedule& schedule, double bucket_bytes, double first_bucket_bytes) {
  if (!(bucket_bytes >= 0) || !(first_bucket_bytes >= 0)) throw std::invalid_argument("a bucket has a negative size");
  if (bucket_bytes == 0) return schedule;

  const std::vector<Bucket> buckets = deal(schedule, bucket_bytes, std::min(first_bucket_bytes, bucket_bytes));
  std::vector<const Bucket*> bucket_of(schedule.tasks.size(), nullptr);
  for (const Bucket& bucket : buckets) {
    for (const std::size_t member : bucket.members) bucket_of[member] = &bucket;
  }

  Schedule result{schedule.workers, schedule.uses_aggregator, {}, schedule.precision};
  std::vector<std::int32_t> now_at(schedule.tasks.size(), -1);  // old index of a collective → new index
  std::set<std::pair<const Bucket*, step::Role>> waited_for;
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    Task task = schedule.tasks[i];
    if (auto* wait = std::get_if<WaitTask>(&task.what)) {
      const auto awaited = static_cast<std::size_t>(wait->collective);
      const Bucket* bucket = bucket_of.at(awaited);
      if (bucket != nullptr && !waited_for.insert({bucket, wait->who}).second) continue;
      wait->collective = now_at[awaited];
    } else if (const Bucket* bucket = bucket_of[i]) {
      if (i != bucket->members.back()) continue;
      for (const std::size_t member : bucket->members) now_at[member] = static_cast<std::int32_t>(result.tasks.size());
      task = fused(schedule, *bucket);
    } else {
      now_at[i] = static_cast<std::int32_t>(result.tasks.size());
    }
    result.tasks.push_back(std::move(task));
  }
  return result;
}

}  // namespace dadsim::schedule
