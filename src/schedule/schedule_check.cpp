#include "schedule/schedule_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <variant>
#include <vector>

namespace dadsim::schedule {
namespace {

bool are_amounts(const PerWorker& values, std::size_t count) {
  for (std::size_t i = 0; i < (values.is_uniform() ? 1 : count); ++i) {
    if (!std::isfinite(values[i]) || values[i] < 0) return false;
  }
  return true;
}

std::string fault_of_compute(const Schedule& schedule, const ComputeTask& task) {
  const std::size_t count = task.who == step::Role::workers ? schedule.replicas() : 1;
  if (task.who == step::Role::aggregator && !schedule.uses_aggregator)
    return "is for an aggregator, but the step has no aggregator";
  if (!are_amounts(task.flops, count) || !are_amounts(task.bytes_moved, count) || !are_amounts(task.launches, count) ||
      !are_amounts(task.seconds, count)) {
    return "computes an amount that is negative or not finite";
  }
  return {};
}

std::string fault_of_neighbours(const CollectiveTask& task, std::size_t workers) {
  if (task.kind != step::CollectiveKind::neighbour_exchange) {
    return task.neighbours == nullptr ? std::string{} : "has neighbours, but is not a neighbour exchange";
  }
  if (task.neighbours == nullptr) return "lacks its neighbours";
  const std::vector<std::vector<std::int32_t>>& to = task.neighbours->to;
  if (to.size() != workers) return fmt::format("has neighbours of {} workers instead of {}", to.size(), workers);
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

/// Checks the group of a collective.
std::string fault_of_among(const Schedule& schedule, const CollectiveTask& task, std::int32_t stage) {
  const bool sends = task.kind == step::CollectiveKind::stage_send;
  if (sends != (task.among == Among::stages)) {
    return sends ? "is a stage_send, but not between stages" : "is between stages, but not a stage_send";
  }
  if (task.among == Among::tensor && schedule.devices() == 1) {
    return "is among devices of a replica, but a replica has one device";
  }
  const bool of_experts = task.among == Among::experts || task.among == Among::expert_copies;
  if (of_experts && schedule.experts == 1) return "is among devices that divide experts, but experts are not divided";
  if (task.among == Among::context && schedule.context == 1)
    return "is among parts of sequences, but sequences are not divided";
  const bool of_shards = task.among == Among::shard_group || task.among == Among::shard_copies;
  if (of_shards &&
      (schedule.shard_group < 1 || schedule.replicas() % static_cast<std::size_t>(schedule.shard_group) != 0))
    return "is among replicas that divide states, but replicas are not a multiple of the group";
  const std::size_t of_stage = schedule.replicas() * static_cast<std::size_t>(schedule.tensor * schedule.context);
  if (of_experts && of_stage % static_cast<std::size_t>(schedule.experts * schedule.expert_tensor) != 0)
    return "is among devices that divide experts, but devices of a stage are not a multiple of the group";
  if (task.among != Among::replicas && task.neighbours != nullptr)
    return "has neighbours among the devices of a replica";
  if (!sends) return {};
  if (stage == kEveryStage) return "lacks the sending stage";
  if (task.to_stage < 0 || task.to_stage >= schedule.pipeline) {
    return fmt::format("sends from stage {} to stage {}, but the pipeline has {} stages", stage, task.to_stage,
                       schedule.pipeline);
  }
  if (task.to_stage == stage) return fmt::format("sends from stage {} to itself", stage);
  return {};
}

std::string fault_of_collective(const Schedule& schedule, const CollectiveTask& task, std::int32_t stage) {
  if (std::string fault = fault_of_among(schedule, task, stage); !fault.empty()) return fault;
  if (step::is_star(task.kind) && !schedule.uses_aggregator)
    return "needs an aggregator, but the step has no aggregator";
  const std::size_t replicas = schedule.replicas();
  const std::size_t count = task.kind == step::CollectiveKind::broadcast ? 1 : replicas;
  if (!are_amounts(task.bytes, count)) return "sends an amount that is negative or not finite";
  const bool reduces = task.kind == step::CollectiveKind::all_reduce && task.among == Among::replicas;
  for (std::size_t worker = 1; reduces && !task.bytes.is_uniform() && worker < replicas; ++worker) {
    if (task.bytes[worker] != task.bytes[0]) return "reduces vectors of unequal size";
  }
  return fault_of_neighbours(task, replicas);
}

std::string fault_of_wait(const Schedule& schedule, const WaitTask& wait, std::size_t index) {
  const auto awaited = static_cast<std::size_t>(wait.collective);
  const auto* collective =
      wait.collective >= 0 && awaited < index ? std::get_if<CollectiveTask>(&schedule.tasks[awaited].what) : nullptr;
  if (collective == nullptr) {
    return fmt::format("waits for task {}, which is not an earlier collective", wait.collective);
  }
  const std::int32_t at = schedule.tasks[awaited].stage;
  const std::int32_t stage = schedule.tasks[index].stage;
  if (wait.who == step::Role::workers && at != kEveryStage && stage != at &&
      (collective->kind != step::CollectiveKind::stage_send || stage != collective->to_stage)) {
    return fmt::format("lets devices wait for task {}, in which they do not take part", wait.collective);
  }
  if (wait.who == step::Role::aggregator && (!step::is_star(collective->kind) || !schedule.uses_aggregator)) {
    return "lets the aggregator wait for a collective in which it does not take part";
  }
  return {};
}

std::string fault_of_task(const Schedule& schedule, std::size_t index) {
  const auto& what = schedule.tasks[index].what;
  const std::int32_t stage = schedule.tasks[index].stage;
  if (stage != kEveryStage && (stage < 0 || stage >= schedule.pipeline)) {
    return fmt::format("is for stage {}, but the pipeline has {} stages", stage, schedule.pipeline);
  }
  try {
    if (const auto* compute = std::get_if<ComputeTask>(&what)) return fault_of_compute(schedule, *compute);
    if (const auto* collective = std::get_if<CollectiveTask>(&what)) {
      return fault_of_collective(schedule, *collective, stage);
    }
    return fault_of_wait(schedule, std::get<WaitTask>(what), index);
  } catch (const std::out_of_range&) {
    return "has values for too few workers";
  }
}

}  // namespace

std::string fault_of(const Schedule& schedule, std::size_t workers, bool has_aggregator) {
  if (schedule.workers == 0) return "has no workers";
  if (schedule.tensor < 1 || schedule.pipeline < 1) return "has replicas without devices";
  const std::int64_t devices = std::int64_t{schedule.tensor} * schedule.pipeline;
  if (static_cast<std::int64_t>(schedule.workers) % devices != 0) {
    return fmt::format("has {} devices, which replicas of {} devices do not divide", schedule.workers, devices);
  }
  if (devices > 1 && schedule.uses_aggregator) return "has replicas of several devices, but uses an aggregator";
  if (schedule.workers > workers) {
    return fmt::format("is for {} workers, but the cluster has {}", schedule.workers, workers);
  }
  if (schedule.uses_aggregator && !has_aggregator) return "uses an aggregator, but the cluster has no aggregator";
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    const std::string fault = fault_of_task(schedule, i);
    if (!fault.empty()) return fmt::format("task {} ({}) {}", i, schedule.tasks[i].layer, fault);
  }
  return {};
}

}  // namespace dadsim::schedule
