// What a node computes, in its actor, from one collective to the next.
#include <algorithm>
#include <variant>

#include "sim/step/step_run.hpp"
#include "sim/step/timeline_recorder.hpp"

namespace dadsim::sim {
namespace {

double date_now() { return simgrid::s4u::Engine::get_clock(); }

}  // namespace

/// Computations that follow one another are one for SimGrid, unless speeds change meanwhile: who computes sees nothing
/// of the others in between. Returns the task behind them.
std::size_t StepRun::execute_from(std::size_t first, std::size_t node, const Stage& stage) {
  ComputeStream& own = streams_[node];
  const std::vector<double>& slowdown = stage.step->slowdown;
  std::size_t next = first;
  double together = 0;
  own.pieces.clear();
  for (; next < stage.behind; ++next) {
    if (!parts_.concerns(*tasks_[next], node)) continue;
    const auto* task = std::get_if<schedule::ComputeTask>(&tasks_[next]->what);
    if (task == nullptr || (together > 0 && network_.varies())) break;
    double seconds = stage.measured->seconds(parts_.host_index(node), *task, parts_.entry(node));
    if (!slowdown.empty()) seconds *= slowdown[parts_.host_index(node)];
    if (task->copy != schedule::HostCopy::none) {
      if (together > 0) break;
      carry(next, *task, seconds, node);
      continue;
    }
    if (seconds <= 0) continue;
    together += seconds;
    own.pieces.push_back({next, together});
  }
  if (together <= 0) return next;
  const double begin = date_now();
  compute(node, together);
  const double end = date_now();
  own.time.busy += end - begin;
  double since = begin;
  for (const auto& [task, seconds] : own.pieces) {
    const double until = seconds < together ? begin + (end - begin) * (seconds / together) : end;
    if (is_compression(std::get<schedule::ComputeTask>(tasks_[task]->what).phase))
      own.time.compressing += until - since;
    if (recorder_ != nullptr) recorder_->computed(node, task, since, until);
    since = until;
  }
  own.cause = graph_.add_computation(static_cast<std::int32_t>(node), begin, end, own.cause);
  return next;
}

/// What takes so many seconds by itself. When the node's collectives end is not known before they do. Where speeds
/// change meanwhile, these alone count.
void StepRun::compute(std::size_t node, double seconds) {
  const double slowed = beside_.of(node);
  if (slowed == 0 || network_.varies()) {
    simgrid::s4u::this_actor::execute(seconds * hosts_[node]->get_speed());
    return;
  }
  ComputeStream& own = streams_[node];
  while (seconds > 0 && communicates(node)) {
    const double begin = date_now();
    own.computes_beside = true;
    const bool is_done = own.wake->acquire_timeout(seconds * (1 + slowed));
    own.computes_beside = false;
    if (is_done && !own.wake->would_block()) own.wake->acquire();  // both at the same date
    seconds = is_done ? 0 : seconds - (date_now() - begin) / (1 + slowed);
  }
  if (seconds > 0)
    simgrid::s4u::this_actor::sleep_for(beside_.seconds(node, date_now(), seconds, communicates_until(node)));
}

/// Whether collectives of the node among its stage are on their way of which the end is not known.
bool StepRun::communicates(std::size_t node) const {
  for (std::size_t i = 0; i < parts_.lines(); ++i) {
    if (!Parts::is_between_stages(i) && lines_[node * parts_.lines() + i].in_progress > 0) return true;
  }
  return false;
}

/// The end of the others, a date.
double StepRun::communicates_until(std::size_t node) const {
  double until = 0;
  for (std::size_t i = 0; i < parts_.lines(); ++i) {
    const Line& own = lines_[node * parts_.lines() + i];
    if (!Parts::is_between_stages(i) && !own.ends.empty()) until = std::max(until, own.ends.front().date);
  }
  return until;
}

/// A copy between a device and its host, or a wait for some.
void StepRun::carry(std::size_t index, const schedule::ComputeTask& task, double seconds, std::size_t node) {
  ComputeStream& own = streams_[node];
  const double begin = date_now();
  const double end = own.host_link.carry(task.copy, begin, seconds);
  if (end <= begin) return;
  simgrid::s4u::this_actor::sleep_until(end);
  own.time.busy += end - begin;
  if (recorder_ != nullptr) recorder_->computed(node, index, begin, end);
  own.cause = graph_.add_computation(static_cast<std::int32_t>(node), begin, end, own.cause);
}

}  // namespace dadsim::sim
