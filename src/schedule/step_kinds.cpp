#include "schedule/step_kinds.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <variant>

namespace dadsim::schedule {
namespace {

/// Returns a hash of the sizes that usually differ; only schedules with equal hashes are compared.
std::uint64_t fingerprint_of(const Schedule& schedule) {
  std::uint64_t mixed = schedule.workers;
  const auto add = [&mixed](double value) {
    mixed = std::rotl(mixed ^ std::bit_cast<std::uint64_t>(value), 23) * 0x9e3779b97f4a7c15U;
  };
  const auto add_all = [&](const PerWorker& values, std::size_t count) {
    for (std::size_t i = 0; i < (values.is_uniform() ? 1 : count); ++i) add(values[i]);
  };
  add(schedule.tensor);
  add(schedule.pipeline);
  for (const Task& task : schedule.tasks) {
    if (const auto* compute = std::get_if<ComputeTask>(&task.what)) {
      add_all(compute->flops, schedule.replicas());
      add_all(compute->bytes_moved, schedule.replicas());
      add_all(compute->seconds, schedule.replicas());
    } else if (const auto* collective = std::get_if<CollectiveTask>(&task.what)) {
      add_all(collective->bytes, schedule.replicas());
    }
  }
  return mixed;
}

/// Returns the number of devices of one replica that do a task.
double devices_of(const Task& task, const Schedule& schedule) {
  return static_cast<double>(task.stage == kEveryStage ? schedule.devices() : schedule.tensor * schedule.context);
}

StepKinds::Kind described(const Schedule& schedule, std::size_t index) {
  const std::size_t workers = schedule.workers;
  const std::size_t nodes = workers + (schedule.uses_aggregator ? 1 : 0);
  const std::size_t replicas = schedule.replicas();
  StepKinds::Kind kind{index, {.occurrences = 0}, {}, {std::vector<double>(nodes), std::vector<double>(nodes)}, {}};
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    const Task& task = schedule.tasks[i];
    if (const auto* compute = std::get_if<ComputeTask>(&task.what)) {
      const std::size_t count = compute->who == step::Role::workers ? replicas : 1;
      const double classes = compute->who == step::Role::workers ? devices_of(task, schedule) : 1;
      for (std::size_t entry = 0; entry < count; ++entry) kind.size.flops += classes * compute->flops[entry];
    } else if (const auto* collective = std::get_if<CollectiveTask>(&task.what)) {
      const bool up = collective->kind == step::CollectiveKind::gather;
      const bool down = collective->kind == step::CollectiveKind::broadcast;
      const double classes = devices_of(task, schedule);
      double most = 0;
      for (std::size_t worker = 0; worker < replicas; ++worker) {
        const double bytes = collective->bytes[down ? 0 : worker];
        most = std::max(most, bytes);
        kind.size.bytes += classes * bytes;
        if (!up && !down) continue;
        kind.star_traffic.sent[up ? worker : workers] += bytes;
        kind.star_traffic.received[up ? workers : worker] += bytes;
      }
      if (up || down) {
        kind.at_star.push_back({collective->kind, most});
      } else {
        kind.elsewhere.push_back(i);
      }
    }
  }
  return kind;
}

}  // namespace

StepKinds::StepKinds(std::span<const Schedule> schedules) {
  std::unordered_multimap<std::uint64_t, std::size_t> known;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const std::uint64_t key = fingerprint_of(schedules[i]);
    const auto [from, to] = known.equal_range(key);
    const auto found =
        std::find_if(from, to, [&](const auto& one) { return schedules[kinds_[one.second].first] == schedules[i]; });
    if (found != to) {
      of_.push_back(found->second);
      continue;
    }
    known.emplace(key, kinds_.size());
    of_.push_back(kinds_.size());
    kinds_.push_back(described(schedules[i], i));
  }
}

}  // namespace dadsim::schedule
