#include "sim/step/step_semantics.hpp"

#include <algorithm>
#include <variant>

namespace dadsim::sim {

bool Parts::only_receives(const step::CollectiveTask& task, std::size_t node) const {
  return task.kind == step::CollectiveKind::gather ? !is_worker(node)
                                                   : task.kind == step::CollectiveKind::broadcast && is_worker(node);
}

bool Parts::concerns(const step::Task& task, std::size_t node) const {
  if (const auto* compute = std::get_if<step::ComputeTask>(&task.what)) return has_role(node, compute->who);
  if (const auto* wait = std::get_if<step::WaitTask>(&task.what)) return has_role(node, wait->who);
  return issues(std::get<step::CollectiveTask>(task.what), node);
}

std::size_t last_worker(const std::vector<StreamTime>& streams, std::size_t workers) {
  std::size_t last = 0;
  for (std::size_t worker = 1; worker < workers; ++worker) {
    if (streams[worker].end > streams[last].end) last = worker;
  }
  return last;
}

void divide_among_parts(const std::vector<StreamTime>& streams, std::size_t last, double seconds,
                        step::StepTiming& timing) {
  timing.seconds = seconds;
  timing.compute_seconds = std::min(streams[last].busy, seconds);
  timing.exposed_seconds = seconds - timing.compute_seconds;
  timing.compression_seconds = std::min(streams[last].compressing, timing.compute_seconds);
  timing.waiting_seconds = std::min(streams[last].waiting, timing.exposed_seconds);
  for (const StreamTime& stream : streams) timing.busy_seconds.push_back(stream.busy);
}

}  // namespace dadsim::sim
