#include "step/schedule_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <variant>
#include <vector>

namespace dadsim::step {
namespace {

bool are_amounts(const PerWorker& values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i]) || values[i] < 0) return false;
  }
  return true;
}

std::string fault_of_compute(const Schedule& schedule, const ComputeTask& task) {
  const std::size_t count = task.who == Role::workers ? schedule.workers : 1;
  if (task.who == Role::aggregator && !schedule.uses_aggregator) return "is for an aggregator that is not used";
  if (!are_amounts(task.flops, count) || !are_amounts(task.bytes_moved, count) || !are_amounts(task.launches, count)) {
    return "computes an amount that is no number from 0 on";
  }
  return {};
}

std::string fault_of_neighbours(const CollectiveTask& task, std::size_t workers) {
  if (task.kind != CollectiveKind::neighbour_exchange) {
    return task.neighbours == nullptr ? std::string{} : "has neighbours, and is no neighbour exchange";
  }
  if (task.neighbours == nullptr) return "does not say who the neighbours are";
  const std::vector<std::vector<std::int32_t>>& to = task.neighbours->to;
  if (to.size() != workers) return fmt::format("has neighbours of {} workers, and there are {}", to.size(), workers);
  for (std::size_t worker = 0; worker < workers; ++worker) {
    std::vector<std::int32_t> peers = to[worker];
    std::ranges::sort(peers);
    for (const std::int32_t peer : peers) {
      if (peer < 0 || static_cast<std::size_t>(peer) >= workers) {
        return fmt::format("lets worker {} send to {}; workers are 0 to {}", worker, peer, workers - 1);
      }
      if (static_cast<std::size_t>(peer) == worker) return fmt::format("lets worker {} send to itself", worker);
    }
    if (const auto twice = std::ranges::adjacent_find(peers); twice != peers.end()) {
      return fmt::format("lets worker {} send to {} twice", worker, *twice);
    }
  }
  return {};
}

std::string fault_of_collective(const Schedule& schedule, const CollectiveTask& task) {
  if (is_star(task.kind) && !schedule.uses_aggregator) return "needs an aggregator that is not used";
  const std::size_t count = task.kind == CollectiveKind::broadcast ? 1 : schedule.workers;
  if (!are_amounts(task.bytes, count)) return "sends an amount that is no number from 0 on";
  for (std::size_t worker = 1; task.kind == CollectiveKind::all_reduce && worker < schedule.workers; ++worker) {
    if (task.bytes[worker] != task.bytes[0]) return "reduces vectors of unequal size";
  }
  return fault_of_neighbours(task, schedule.workers);
}

std::string fault_of_wait(const Schedule& schedule, const WaitTask& wait, std::size_t index) {
  const auto awaited = static_cast<std::size_t>(wait.collective);
  const auto* collective =
      wait.collective >= 0 && awaited < index ? std::get_if<CollectiveTask>(&schedule.tasks[awaited].what) : nullptr;
  if (collective == nullptr) {
    return fmt::format("waits for task {}, which is no collective before it", wait.collective);
  }
  if (wait.who == Role::aggregator && (!is_star(collective->kind) || !schedule.uses_aggregator)) {
    return "lets the aggregator wait for a collective it has no part in";
  }
  return {};
}

std::string fault_of_task(const Schedule& schedule, std::size_t index) {
  const auto& what = schedule.tasks[index].what;
  try {
    if (const auto* compute = std::get_if<ComputeTask>(&what)) return fault_of_compute(schedule, *compute);
    if (const auto* collective = std::get_if<CollectiveTask>(&what)) return fault_of_collective(schedule, *collective);
    return fault_of_wait(schedule, std::get<WaitTask>(what), index);
  } catch (const std::out_of_range&) {
    return "has values for fewer workers than take part";
  }
}

}  // namespace

std::string fault_of(const Schedule& schedule, std::size_t workers, bool has_aggregator) {
  if (schedule.workers == 0) return "has no workers";
  if (schedule.workers > workers) {
    return fmt::format("is for {} workers, and the cluster has {}", schedule.workers, workers);
  }
  if (schedule.uses_aggregator && !has_aggregator) return "uses an aggregator, and the cluster has none";
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    const std::string fault = fault_of_task(schedule, i);
    if (!fault.empty()) return fmt::format("task {} ({}) {}", i, schedule.tasks[i].layer, fault);
  }
  return {};
}

}  // namespace dadsim::step
