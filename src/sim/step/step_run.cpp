#include "sim/step/step_run.hpp"

#include <algorithm>
#include <limits>
#include <simgrid/kernel/Timer.hpp>
#include <utility>
#include <variant>

#include "sim/process/clock.hpp"
#include "sim/step/timeline_recorder.hpp"

namespace dadsim::sim {
StepRun::StepRun(const Nodes& nodes, const collectives::RankLayout& layout, std::span<const ReplayStep> steps,
                 Interconnect& network, Connections& connections, TimelineRecorder* recorder)
    : nodes_(nodes),
      parts_(*steps.front().schedule, nodes.workers),
      network_(network),
      connections_(connections),
      recorder_(recorder),
      beside_(nodes, parts_, steps.front().schedule->precision),
      begin_(now()),
      graph_(begin_) {
  connections_.number_aggregator(static_cast<std::int32_t>(parts_.workers()),
                                 static_cast<std::int32_t>(nodes_.workers));
  const std::size_t count = parts_.nodes();
  streams_.resize(count);
  lines_.resize(count * parts_.lines());
  hosts_.reserve(count);
  for (std::size_t node = 0; node < count; ++node) hosts_.push_back(nodes_.hosts[parts_.host_index(node)]);
  for (const ReplayStep& step : steps) add_stage(step, layout);
}

void StepRun::add_stage(const ReplayStep& step, const collectives::RankLayout& layout) {
  const RunStage* before = stages_.empty() ? nullptr : &stages_.back();
  const bool again = before != nullptr && before->step->schedule == step.schedule;
  const std::size_t first_before = again ? before->first : 0;
  if (!again) measured_.push_back(std::make_unique<ComputeTime>(nodes_.devices, *step.schedule));
  const std::size_t count = parts_.nodes();
  RunStage stage;
  stage.step = &step;
  stage.first = stage.behind = tasks_.size();
  stage.measured = measured_.back().get();
  stage.streams.resize(count);
  stage.causes.resize(count, EventGraph::kStart);
  stage.sent.resize(count);
  stage.received.resize(count);
  CollectiveLayouts layouts(*step.schedule, layout);
  for (const schedule::Task& task : step.schedule->tasks) {
    const std::size_t i = stage.behind++;
    tasks_.push_back(&task);
    stage_of_.push_back(stages_.size());
    RunOperation& operation = operations_.emplace_back();
    if (!std::holds_alternative<schedule::CollectiveTask>(task.what)) continue;
    operation.laid_out = again ? operations_[first_before + i - stage.first].laid_out : layouts.of(task);
    operation.parts.resize(count);
    operation.framework =
        again ? operations_[first_before + i - stage.first].framework : framework_of(task, *operation.laid_out->rounds);
    operation.run =
        std::make_unique<CollectiveRun>(static_cast<std::int32_t>(i), *operation.laid_out->rounds, connections_, graph_,
                                        [this, i](collectives::Rank rank, double date, EventId cause, Outbox& outbox) {
                                          done(i, static_cast<std::size_t>(rank), date, cause, outbox);
                                        });
  }
  stages_.push_back(std::move(stage));
}

std::shared_ptr<const std::vector<FrameworkCost>> StepRun::framework_of(const schedule::Task& task,
                                                                        const collectives::Rounds& rounds) const {
  const auto& collective = std::get<schedule::CollectiveTask>(task.what);
  if (nodes_.framework == nullptr || collective.among != schedule::Among::replicas)
    return std::make_shared<const std::vector<FrameworkCost>>();
  return std::make_shared<const std::vector<FrameworkCost>>(framework_costs(
      *nodes_.framework, rounds, [&](std::size_t node) { return collective.bytes[parts_.entry(node)]; },
      [&](std::size_t node) { return !parts_.is_worker(node); },
      [&](std::size_t from, std::size_t to) {
        Interconnect& network = connections_.network();
        const auto host = [&](std::size_t node) { return connections_.host(static_cast<std::int32_t>(node)); };
        return network[network.path(host(from), host(to))].transfer_rate();
      }));
}

void StepRun::begin() {
  connections_.on_arrival([this](const Message& message, double date, const Holdup& holdup, Outbox& outbox) {
    const auto task = static_cast<std::size_t>(message.operation);
    RunStage& stage = stages_[stage_of_[task]];
    stage.sent[static_cast<std::size_t>(message.from)] += message.bytes;
    stage.received[static_cast<std::size_t>(message.to)] += message.bytes;
    RunOperation& operation = operations_[task];
    if (recorder_ != nullptr) {
      double& through = operation.parts[static_cast<std::size_t>(message.from)].through_at;
      through = std::max(through, date);
    }
    operation.run->arrived(message, date, holdup, outbox);
  });
}

void StepRun::end() {
  connections_.wait_until_idle();
  if (recorder_ == nullptr) return;
  record_collectives();
  const std::vector<StreamTime>& streams = stages_.back().streams;
  const std::size_t last = last_worker(streams, parts_.workers());
  recorder_->ended(streams[last].end - begin_, last);
}

// ---- the compute stream ----

void StepRun::compute_in_order(std::size_t node) {
  ComputeStream& own = streams_[node];
  begin_receiving(node);
  for (RunStage& stage : stages_) {
    for (std::size_t i = stage.first; i < stage.behind; ++i) {
      const schedule::Task& task = *tasks_[i];
      if (!parts_.concerns(task, node)) continue;
      if (std::holds_alternative<schedule::ComputeTask>(task.what)) {
        i = execute_from(i, node, stage) - 1;
      } else if (const auto* wait = std::get_if<schedule::WaitTask>(&task.what)) {
        wait_for(i, stage.first + static_cast<std::size_t>(wait->collective), node);
      } else {
        issue(i, node);
      }
    }
    own.time.end = now();
    stage.streams[node] = own.time;
    stage.causes[node] = own.cause;
  }
  own.outbox.drain();
}

void StepRun::wait_for(std::size_t index, std::size_t task, std::size_t node) {
  ComputeStream& own = streams_[node];
  const RunPart& part = operations_[task].parts[node];
  const double begin = now();
  if (!part.done) {
    own.waits_for = task;
    own.wake->acquire();
  } else if (part.done_at > begin) {
    simgrid::s4u::this_actor::sleep_until(part.done_at);
  }
  if (part.done_at <= begin) return;
  own.cause = part.done_by;
  const double end = now();
  if (recorder_ != nullptr) recorder_->waited(node, index, begin, end);
  if (!parts_.gets_something(*tasks_[task], node)) return;
  own.time.waiting += waiting_for_others(begin, end, all_issued(task, node));
}

/// Returns the date at which the last sender to the node issued the collective. Call once the node has finished it,
/// since all senders have then issued it. For most kinds the senders are all nodes that issue it in the node's group.
double StepRun::all_issued(std::size_t task, std::size_t node) const {
  const RunOperation& operation = operations_[task];
  const CollectiveLayout& laid_out = *operation.laid_out;
  double last = 0;
  const auto count = [&](collectives::Rank peer) {
    last = std::max(last, operation.parts[static_cast<std::size_t>(peer)].issued_at);
  };
  if (std::get<schedule::CollectiveTask>(tasks_[task]->what).kind == step::CollectiveKind::neighbour_exchange) {
    std::vector<collectives::Transfer> from;
    if (laid_out.rounds->count() > 0) laid_out.rounds->receives(static_cast<collectives::Rank>(node), 0, from);
    for (const collectives::Transfer& transfer : from) count(transfer.peer);
    return last;
  }
  if (laid_out.groups.size() == 1) return operation.last_issued;
  const std::int32_t group = laid_out.group_of[node];
  if (group < 0) return last;
  for (const collectives::Rank peer : laid_out.groups[static_cast<std::size_t>(group)].ranks) count(peer);
  return last;
}

// ---- collectives ----

void StepRun::begin_receiving(std::size_t node) {
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i].run && parts_.only_receives(*tasks_[i], node)) {
      operations_[i].run->begin(static_cast<collectives::Rank>(node), begin_, EventGraph::kStart,
                                streams_[node].outbox);
    }
  }
}

void StepRun::issue(std::size_t task, std::size_t node) {
  RunPart& part = operations_[task].parts[node];
  part.issued = true;
  part.issued_at = now();
  operations_[task].last_issued = now();
  part.issued_by = streams_[node].cause;
  begin_next(node, *tasks_[task], streams_[node].outbox);
}

/// Begins the collectives that the node has issued on the line of `of_line`, in order, and as many at once as the
/// library allows.
void StepRun::begin_next(std::size_t node, const schedule::Task& of_line, Outbox& outbox) {
  RunLine& own = line(node, of_line);
  const auto on_line = [&](std::size_t task) {
    return operations_[task].run && &line(node, *tasks_[task]) == &own && parts_.issues(*tasks_[task], node);
  };
  for (;;) {
    while (own.next < operations_.size() && !on_line(own.next)) ++own.next;
    if (own.next == operations_.size()) return;
    RunOperation& operation = operations_[own.next];
    RunPart& part = operation.parts[node];
    const std::int32_t most = operation.laid_out->rounds->pace().at_once;
    if (!part.issued || own.in_progress >= (own.in_progress == 0 ? most : std::min(most, own.most))) return;
    // Waits for finished collectives whose end is in the future: the next one begins when few enough are left.
    const auto left = static_cast<std::size_t>(most - own.in_progress - 1);
    const bool waits = left < own.ends.size() && own.ends[left].date > part.issued_at;
    part.begun_at = waits ? own.ends[left].date : part.issued_at;
    EventId cause = waits ? own.ends[left].by : part.issued_by;
    double date = part.begun_at;
    if (!operation.framework->empty()) {
      if (const double before = (*operation.framework)[node].before; before > 0) {
        cause = graph_.add_framework(static_cast<std::int32_t>(node), date, date + before, cause);
        date += before;
      }
      part.leaves_at = date;
    }
    own.most = own.in_progress == 0 ? most : std::min(most, own.most);
    ++own.in_progress;
    ++own.next;
    operation.run->begin(static_cast<collectives::Rank>(node), date, cause, outbox);
  }
}

void StepRun::done(std::size_t task, std::size_t node, double date, EventId cause, Outbox& outbox) {
  RunPart& part = operations_[task].parts[node];
  if (const std::vector<FrameworkCost>& framework = *operations_[task].framework; !framework.empty()) {
    // Takes the last issue as the beginning for a node that only receives, because its messages arrive once the other
    // nodes have issued theirs.
    const double begin = parts_.only_receives(*tasks_[task], node) ? operations_[task].last_issued : part.leaves_at;
    if (const double end = framework[node].done(begin, date); end > date) {
      cause = graph_.add_framework(static_cast<std::int32_t>(node), date, end, cause);
      date = end;
    }
  }
  part.done = true;
  part.done_at = date;
  part.done_by = cause;
  ComputeStream& stream = streams_[node];
  if (stream.waits_for == task) {
    stream.waits_for.reset();
    if (date > now()) {
      simgrid::kernel::timer::Timer::set(date, [&stream] { stream.wake->release(); });
    } else {
      stream.wake->release();
    }
  }
  if (parts_.only_receives(*tasks_[task], node)) return;
  RunLine& own = line(node, *tasks_[task]);
  --own.in_progress;
  own.ends.insert(std::ranges::find_if(own.ends, [&](const RunLine::RunEnd& end) { return end.date < date; }),
                  {date, cause});
  if (own.ends.size() > static_cast<std::size_t>(own.most)) own.ends.pop_back();
  begin_next(node, *tasks_[task], outbox);
  if (stream.computes_beside && !communicates(node)) stream.wake->release();
}

/// Records the nodes' parts from beginning to end. A node that only receives begins with the first of the others in its
/// group. A node that only sends ends when its last message has arrived. If two parts overlap, the second is shown from
/// the end of the first.
void StepRun::record_collectives() {
  std::vector<double> shown(streams_.size(), begin_);  // date up to which a node's track is filled
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (!operations_[i].run) continue;
    const schedule::Task& task = *tasks_[i];
    const bool alone = operations_[i].laid_out->rounds->pace().at_once == 1;
    const std::vector<RunPart>& parts = operations_[i].parts;
    for (const collectives::RankGroup& group : operations_[i].laid_out->groups) {
      double first = std::numeric_limits<double>::infinity();
      for (const collectives::Rank rank : group.ranks) {
        const auto node = static_cast<std::size_t>(rank);
        if (parts_.issues(task, node)) first = std::min(first, parts[node].begun_at);
      }
      for (const collectives::Rank rank : group.ranks) {
        const auto node = static_cast<std::size_t>(rank);
        const RunPart& part = parts[node];
        const bool receives = parts_.only_receives(task, node);
        if (receives) {
          recorder_->communicated(node, i, first, part.done_at, true);
        } else if (is_one_way(std::get<schedule::CollectiveTask>(task.what).kind)) {
          recorder_->communicated(node, i, part.begun_at, std::max(part.done_at, part.through_at), false);
        } else {
          const double begin = alone ? part.begun_at : std::max(part.begun_at, shown[node]);
          shown[node] = std::max(shown[node], part.done_at);
          recorder_->communicated(node, i, begin, alone ? part.done_at : shown[node], false);
        }
      }
    }
  }
}

// ---- afterwards ----

std::vector<std::vector<double>> StepRun::finished() const {
  std::vector<std::vector<double>> dates;
  for (const RunStage& stage : stages_) {
    std::vector<double>& own = dates.emplace_back();
    for (std::size_t worker = 0; worker < parts_.workers(); ++worker) own.push_back(stage.streams[worker].end - begin_);
  }
  return dates;
}

std::vector<double> StepRun::ends() const {
  std::vector<double> dates;
  for (const std::vector<double>& workers : finished()) dates.push_back(*std::ranges::max_element(workers));
  return dates;
}

step::StepTiming StepRun::timing(std::size_t from, std::size_t to) const {
  const RunStage& at_end = stages_.at(to - 1);
  const auto steps = static_cast<double>(to - from);
  const std::size_t last = last_worker(at_end.streams, parts_.workers());
  double since = begin_;
  std::vector<StreamTime> streams = at_end.streams;
  if (from > 0) {
    const std::vector<StreamTime>& before = stages_.at(from - 1).streams;
    since = before[last_worker(before, parts_.workers())].end;
    for (std::size_t node = 0; node < streams.size(); ++node) {
      streams[node].busy -= before[node].busy;
      streams[node].compressing -= before[node].compressing;
      streams[node].waiting -= before[node].waiting;
    }
  }
  for (StreamTime& stream : streams) {
    stream.busy /= steps;
    stream.compressing /= steps;
    stream.waiting /= steps;
  }
  step::StepTiming timing;
  split_among_parts(streams, last, (at_end.streams[last].end - since) / steps, timing);
  timing.bytes_sent = at_end.sent;
  timing.bytes_received = at_end.received;
  timing.bounds = graph_.critical_path(at_end.causes[last], names(), since);
  for (step::Bound& bound : timing.bounds) bound.seconds /= steps;
  return timing;
}

EventGraph::Names StepRun::names() const {
  EventGraph::Names names;
  names.computation = [this](std::size_t node) {
    return EventGraph::Computer{hosts_.at(node)->get_cname(), nodes_.devices[parts_.host_index(node)]->name};
  };
  names.latency = [this](std::size_t route) { return network_.paths().at(route).name(); };
  names.route_latency = [this](std::size_t route) { return network_.paths().at(route).way_seconds(); };
  names.link = [this](std::size_t link) { return network_.links().at(link).name; };
  return names;
}

/// Executes consecutive computations as one in SimGrid, unless speeds change meanwhile; nothing reaches the node
/// between them. Returns the task after them.
std::size_t StepRun::execute_from(std::size_t first, std::size_t node, const RunStage& stage) {
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
  const double begin = now();
  compute(node, together);
  const double end = now();
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

/// Computes for `seconds`, more slowly while the node communicates, as the end of its collectives is not known in
/// advance. If speeds change over time, communication has no effect.
void StepRun::compute(std::size_t node, double seconds) {
  const double slowed = beside_.of(node);
  if (slowed == 0 || network_.varies()) {
    simgrid::s4u::this_actor::execute(seconds * hosts_[node]->get_speed());
    return;
  }
  ComputeStream& own = streams_[node];
  while (seconds > 0 && communicates(node)) {
    const double begin = now();
    own.computes_beside = true;
    const bool is_done = own.wake->acquire_timeout(seconds * (1 + slowed));
    own.computes_beside = false;
    if (is_done && !own.wake->would_block())
      own.wake->acquire();  // the computation and the communication ended at the
                            // same date
    seconds = is_done ? 0 : seconds - (now() - begin) / (1 + slowed);
  }
  if (seconds > 0) simgrid::s4u::this_actor::sleep_for(beside_.seconds(node, now(), seconds, communicates_until(node)));
}

/// Returns whether the node has collectives with unknown ends in progress, except those between stages.
bool StepRun::communicates(std::size_t node) const {
  for (std::size_t i = 0; i < parts_.lines(); ++i) {
    if (!Parts::is_between_stages(i) && lines_[node * parts_.lines() + i].in_progress > 0) return true;
  }
  return false;
}

/// Returns the latest known end date of the node's collectives, except those between stages.
double StepRun::communicates_until(std::size_t node) const {
  double until = 0;
  for (std::size_t i = 0; i < parts_.lines(); ++i) {
    const RunLine& own = lines_[node * parts_.lines() + i];
    if (!Parts::is_between_stages(i) && !own.ends.empty()) until = std::max(until, own.ends.front().date);
  }
  return until;
}

/// Executes a copy between a device and its host, or a wait for copies.
void StepRun::carry(std::size_t index, const schedule::ComputeTask& task, double seconds, std::size_t node) {
  ComputeStream& own = streams_[node];
  const double begin = now();
  const double end = own.host_link.carry(task.copy, begin, seconds);
  if (end <= begin) return;
  simgrid::s4u::this_actor::sleep_until(end);
  own.time.busy += end - begin;
  if (recorder_ != nullptr) recorder_->computed(node, index, begin, end);
  own.cause = graph_.add_computation(static_cast<std::int32_t>(node), begin, end, own.cause);
}

}  // namespace dadsim::sim
