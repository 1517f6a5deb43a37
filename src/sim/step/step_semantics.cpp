#include "sim/step/step_semantics.hpp"

#include <algorithm>
#include <variant>

namespace dadsim::sim {

Parts::RankRange Parts::issuers(const schedule::Task& task) const {
  const auto& collective = std::get<schedule::CollectiveTask>(task.what);
  return with(collective.kind == step::CollectiveKind::broadcast ? step::Role::aggregator : step::Role::workers,
              task.stage);
}

Parts::RankRange Parts::receivers(const schedule::Task& task) const {
  const auto& collective = std::get<schedule::CollectiveTask>(task.what);
  if (collective.kind == step::CollectiveKind::gather) return with(step::Role::aggregator, task.stage);
  if (collective.kind == step::CollectiveKind::broadcast) return with(step::Role::workers, task.stage);
  if (collective.kind == step::CollectiveKind::stage_send) return with(step::Role::workers, collective.to_stage);
  return {};
}

bool Parts::gets_something(const schedule::Task& task, std::size_t node) const {
  const step::CollectiveKind kind = std::get<schedule::CollectiveTask>(task.what).kind;
  const bool one_way = kind == step::CollectiveKind::gather || kind == step::CollectiveKind::stage_send;
  return !one_way || only_receives(task, node);
}

bool Parts::concerns(const schedule::Task& task, std::size_t node) const {
  if (const auto* compute = std::get_if<schedule::ComputeTask>(&task.what)) {
    return with(compute->who, task.stage).holds(node);
  }
  if (const auto* wait = std::get_if<schedule::WaitTask>(&task.what)) return with(wait->who, task.stage).holds(node);
  return issues(task, node);
}

std::size_t Parts::line_of(const schedule::Task& task) {
  const auto& collective = std::get<schedule::CollectiveTask>(task.what);
  switch (collective.among) {
    case schedule::Among::replicas:
    case schedule::Among::expert_copies:
    case schedule::Among::shard_group:
    case schedule::Among::shard_copies:
      return 0;
    case schedule::Among::tensor:
      return 1;
    case schedule::Among::stages:
      if (collective.to_stage == task.stage + 1) return 2;
      return collective.to_stage + 1 == task.stage ? 3 : 5;
    case schedule::Among::context:
    case schedule::Among::experts:
      return 4;
  }
  throw std::logic_error("a collective without ranks");
}

std::size_t last_worker(const std::vector<StreamTime>& streams, std::size_t workers) {
  std::size_t last = 0;
  for (std::size_t worker = 1; worker < workers; ++worker) {
    if (streams[worker].end > streams[last].end) last = worker;
  }
  return last;
}

void split_among_parts(const std::vector<StreamTime>& streams, std::size_t last, double seconds,
                       step::StepTiming& timing) {
  timing.seconds = seconds;
  timing.compute_seconds = std::min(streams[last].busy, seconds);
  timing.exposed_seconds = seconds - timing.compute_seconds;
  timing.compression_seconds = std::min(streams[last].compressing, timing.compute_seconds);
  timing.waiting_seconds = std::min(streams[last].waiting, timing.exposed_seconds);
  for (const StreamTime& stream : streams) timing.busy_seconds.push_back(stream.busy);
}

}  // namespace dadsim::sim
