#include "sim/step/step_by_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <variant>

#include "sim/network/flow.hpp"
#include "sim/step/closed_form.hpp"
#include "sim/step/collective_dates.hpp"
#include "sim/step/compute_time.hpp"
#include "sim/step/critical_paths.hpp"
#include "sim/step/flow_collectives.hpp"
#include "sim/step/flow_overlaps.hpp"
#include "sim/step/stage_seconds.hpp"
#include "sim/step/step_semantics.hpp"
#include "sim/step/timeline_recorder.hpp"

namespace dadsim::sim {
namespace {

constexpr double kTogether = 0.005;  // of the step: how far apart ranks may begin its collectives, all of them added up
/// Of the step so far: how far apart ranks may begin collectives of very many messages, all of them added up, for these
/// to count as begun together, when the last of them does. No message then leaves sooner than it would, nor later by
/// more than that.
constexpr double kLateShare = 1e-4;

class StepByFlow {
 public:
  StepByFlow(const Nodes& nodes, const collectives::RankLayout& layout, const step::Schedule& schedule,
             Interconnect& network, bool by_closed_form, TimelineRecorder* recorder)
      : nodes_(nodes),
        schedule_(schedule),
        network_(network),
        by_closed_form_(by_closed_form),
        recorder_(recorder),
        parts_(schedule, nodes.workers),
        paths_(parts_.nodes(), parts_.lines()),
        compute_(nodes.devices, schedule),
        collectives_(nodes, parts_, layout, schedule, network, by_closed_form),
        overlaps_(network),
        apart_(schedule.pipeline),
        overlooked_(schedule.pipeline) {
    const std::size_t count = parts_.nodes();
    streams_.resize(count);
    free_.assign(count * parts_.lines(), 0);
    timing_.bytes_sent.assign(count, 0);
    timing_.bytes_received.assign(count, 0);
    progress_.resize(schedule_.tasks.size());
    last_wait_.assign(schedule_.tasks.size(), 0);
    for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
      const auto* wait = std::get_if<step::WaitTask>(&schedule_.tasks[i].what);
      if (wait != nullptr) last_wait_[static_cast<std::size_t>(wait->collective)] = i;
    }
    std::map<std::pair<std::string, double>, std::size_t> classes;
    for (std::size_t node = 0; node < count; ++node) {
      const spec::DeviceSpec& device = *nodes_.devices[parts_.host_index(node)];
      class_of_.push_back(classes.try_emplace({device.name, device.slowdown}, classes.size()).first->second);
    }
    known_.resize(classes.size());
  }

  Refused run() {
    if (Refused refused = collectives_.carry_out_largest(together_)) return refused;
    for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
      const step::Task& task = schedule_.tasks[i];
      if (const auto* compute = std::get_if<step::ComputeTask>(&task.what)) {
        execute(i, *compute);
      } else if (std::holds_alternative<step::CollectiveTask>(task.what)) {
        if (Refused refused = communicate(i)) return refused;
      } else {
        const auto& wait = std::get<step::WaitTask>(task.what);
        const auto awaited = static_cast<std::size_t>(wait.collective);
        const Parts::Range nodes = parts_.with(wait.who, task.stage);
        for (std::size_t node = nodes.first; node < nodes.behind; ++node) wait_for(i, awaited, node);
        if (last_wait_[awaited] == i) progress_[awaited] = {};
      }
    }
    const std::size_t last = last_worker(streams_, parts_.workers());
    split_among_parts(streams_, last, streams_[last].end, timing_);
    // Who begins early may find the network less busy than all together would: by no more than that it is early.
    const double apart = apart_.most();
    if (apart > kTogether * timing_.seconds) {
      return FlowRefusal{
          fmt::format("workers come to a collective apart ({:.3g} s for {}; in all {:.3g} s of a step of {:.3g} s)",
                      worst_apart_, worst_, apart, timing_.seconds)};
    }
    if (overlooked_.most() > kTogether * timing_.seconds) {
      return FlowRefusal{
          fmt::format("collectives that go on at the same time share links ({:.3g} s of a step of {:.3g} s)",
                      overlooked_.most(), timing_.seconds)};
    }
    if (!single()) count_occurrences(last);
    timing_.bounds = bounds_of(paths_.of(last), collectives_.host(last)->get_cname(),
                               nodes_.devices[parts_.host_index(last)]->name, spent_, timing_.seconds);
    if (recorder_ != nullptr) recorder_->ended(timing_.seconds, last);
    for (const FlowPart* part : together_) carry(*part->traffic, static_cast<double>(part->times));
    return {};
  }

  /// What links carried, once it has run.
  std::vector<LinkLoad>& loads() { return loads_; }
  step::StepTiming& timing() { return timing_; }

 private:
  void execute(std::size_t index, const step::ComputeTask& task) {
    const bool uniform = task.flops.is_uniform() && task.bytes_moved.is_uniform() && task.launches.is_uniform();
    const Parts::Range nodes = parts_.with(task.who, schedule_.tasks[index].stage);
    std::ranges::fill(known_, -1);
    for (std::size_t node = nodes.first; node < nodes.behind; ++node) {
      double seconds = uniform ? known_[class_of_[node]] : -1;
      if (seconds < 0) {
        seconds = compute_.seconds(parts_.host_index(node), task, parts_.entry(node));
        if (uniform) known_[class_of_[node]] = seconds;
      }
      StreamTime& stream = streams_[node];
      if (recorder_ != nullptr) recorder_->computed(node, index, stream.end, stream.end + seconds);
      stream.end += seconds;
      stream.busy += seconds;
      if (is_compression(task.phase)) stream.compressing += seconds;
      paths_.computed(node, seconds);
    }
  }

  void wait_for(std::size_t index, std::size_t awaited, std::size_t node) {
    StreamTime& stream = streams_[node];
    const step::Task& task = schedule_.tasks[awaited];
    const double begin = stream.end;
    const std::size_t slot = slot_of(task, node);
    const double end = CollectiveDates::of(progress_[awaited].done, slot);
    if (end <= begin) return;
    stream.end = end;
    if (recorder_ != nullptr) recorder_->waited(node, index, begin, end);
    double for_others = 0;
    if (parts_.gets_something(task, node))
      for_others = waiting_for_others(begin, end, CollectiveDates::of(progress_[awaited].issued, slot));
    stream.waiting += for_others;
    if (single()) for_others = 0;
    if (parts_.issuers(task).holds(node)) {
      paths_.waited(node, Parts::line_of(task), end, for_others);
    } else {
      paths_.received(node, begin, end, for_others);
    }
  }

  std::size_t slot_of(const step::Task& task, std::size_t node) const {
    const Parts::Range issuers = parts_.issuers(task);
    return issuers.holds(node) ? node - issuers.first : issuers.size() + node - parts_.receivers(task).first;
  }

  Refused communicate(std::size_t index) {
    const step::Task& task = schedule_.tasks[index];
    const std::size_t slots = parts_.issuers(task).size() + parts_.receivers(task).size();
    CollectiveDates& progress = progress_[index];
    const bool awaited = last_wait_[index] > 0;
    if (awaited) progress = {std::vector<double>(slots), std::vector<double>(slots)};
    apart_.next();
    overlooked_.next();
    for (FlowPart& part : collectives_.of(task)) {
      if (Refused refused = communicate(index, part)) return refused;
    }
    if (awaited) progress.shorten();
    return {};
  }

  Refused communicate(std::size_t index, FlowPart& part) {
    const step::Task& task = schedule_.tasks[index];
    const std::size_t ranks = part.nodes.size();
    const Parts::Range receivers = parts_.receivers(task);
    double earliest = std::numeric_limits<double>::infinity();
    double latest = 0;
    std::vector<double>& dates = dates_;
    dates.assign(ranks, 0);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t node = part.nodes[rank];
      if (receivers.holds(node)) continue;
      const double free = free_at(task, node);
      if (free <= streams_[node].end) paths_.line_begins(node, Parts::line_of(task), streams_[node].end);
      dates[rank] = std::max(streams_[node].end, free);
      earliest = std::min(earliest, dates[rank]);
      latest = std::max(latest, dates[rank]);
    }
    bool even = earliest >= latest;
    if (!even && !part.stages.empty()) {  // stages are apart by nature, and then each has the network to itself
      for (FlowPart& of_stage : part.stages) {
        if (Refused refused = communicate(index, of_stage)) return refused;
      }
      return {};
    }
    if (!even && !by_closed_form_ && taken_together_ + latest - earliest <= kLateShare * earliest &&
        collectives_.is_large(part)) {
      taken_together_ += latest - earliest;
      note_apart(index, part, latest - earliest);
      earliest = latest;
      even = true;
    }
    for (double& date : dates) date = std::max(date, earliest);
    if (recorder_ != nullptr) begins_ = dates;
    issue(index, part);
    if (even && part.together != nullptr) {
      for (std::size_t rank = 0; rank < ranks; ++rank) dates[rank] += part.together->seconds[rank];
      beside_others(part, earliest);
    } else {
      if (!even && !by_closed_form_) note_apart(index, part, latest - earliest);
      if (even) {
        FlowOutcome outcome;
        if (Refused refused = collectives_.carry_out(part, dates, earliest, latest, outcome)) return refused;
        part.together = std::make_unique<const FlowOutcome>(std::move(outcome));
        together_.push_back(&part);
        beside_others(part, earliest);
      } else {
        const FlowOutcome* outcome = nullptr;
        if (Refused refused = collectives_.carry_out_apart(part, dates, earliest, latest, outcome)) return refused;
        beside_others(part, earliest);
        add(part, 1);
        for (const auto& [what, seconds] : outcome->spent) (single() ? spent_ : part.spent)[what] += seconds;
        carry(*part.traffic, 1);
      }
    }
    if (even) {
      ++part.times;
      if (single()) {
        add(part, 1);
        for (const auto& [what, seconds] : part.together->spent) spent_[what] += seconds;
      }
    }
    finish(index, part);
    return {};
  }

  /// Where others share its links meanwhile, it takes longer.
  void beside_others(FlowPart& part, double begin) {
    if (single() || by_closed_form_ || part.traffic->loads.empty()) return;
    const double seconds = *std::ranges::max_element(dates_) - begin;
    if (!part.number) part.number = overlaps_.add(part.traffic->loads, seconds);
    const FlowOverlaps::Occurrence occurrence = overlaps_.occur(*part.number, begin, seconds);
    overlooked_.add(stage_of(part), occurrence.overlooked);
    if (occurrence.seconds <= seconds) return;
    for (double& date : dates_) date = begin + (date - begin) * (occurrence.seconds / seconds);
  }

  std::size_t stage_of(const FlowPart& part) const {
    return part.nodes.front() / (parts_.workers() / static_cast<std::size_t>(schedule_.pipeline));
  }

  bool single() const { return parts_.single_devices(); }
  double& free_at(const step::Task& task, std::size_t node) {
    return free_[node * parts_.lines() + Parts::line_of(task)];
  }

  /// When the last had issued it of those that a rank gets something from: all of its group, or its neighbours.
  void issue(std::size_t index, const FlowPart& part) {
    if (last_wait_[index] == 0) return;
    const step::Task& task = schedule_.tasks[index];
    const Parts::Range issuers = parts_.issuers(task);
    const step::Neighbours* neighbours = std::get<step::CollectiveTask>(task.what).neighbours.get();
    std::vector<double>& issued = progress_[index].issued;
    for (std::size_t group = 0, first = 0; group < part.ends.size(); first = part.ends[group++]) {
      if (neighbours != nullptr) {
        for (std::size_t rank = first; rank < part.ends[group]; ++rank) {
          for (const std::int32_t peer : neighbours->to[rank - first]) {
            double& last = issued[slot_of(task, part.nodes[first + static_cast<std::size_t>(peer)])];
            last = std::max(last, streams_[part.nodes[rank]].end);
          }
        }
        continue;
      }
      double last = 0;
      for (std::size_t rank = first; rank < part.ends[group]; ++rank) {
        if (issuers.holds(part.nodes[rank])) last = std::max(last, streams_[part.nodes[rank]].end);
      }
      for (std::size_t rank = first; rank < part.ends[group]; ++rank) issued[slot_of(task, part.nodes[rank])] = last;
    }
  }

  /// Once `dates_` says when ranks are done.
  void finish(std::size_t index, const FlowPart& part) {
    const step::Task& task = schedule_.tasks[index];
    const auto& collective = std::get<step::CollectiveTask>(task.what);
    const step::CollectiveKind kind = collective.kind;
    const Parts::Range receivers = parts_.receivers(task);
    const bool sends_ahead = kind == step::CollectiveKind::gather || kind == step::CollectiveKind::stage_send;
    for (std::size_t group = 0, first = 0; group < part.ends.size(); first = part.ends[group++]) {
      double through = 0;
      for (std::size_t rank = first; rank < part.ends[group]; ++rank) through = std::max(through, dates_[rank]);
      for (std::size_t rank = first; rank < part.ends[group]; ++rank) {
        const std::size_t node = part.nodes[rank];
        if (last_wait_[index] > 0) progress_[index].done[slot_of(task, node)] = dates_[rank];
        const bool receives = receivers.holds(node);
        if (!receives) {
          // Messages of a pair keep their order: who only sends is free when they are on their way.
          const std::size_t to = part.nodes[part.ends[group] - 1];
          const double bytes = kind == step::CollectiveKind::stage_send ? collective.bytes[parts_.entry(node)] : 1;
          const double free = sends_ahead ? through - latency(node, to, bytes) : dates_[rank];
          free_at(task, node) = std::max(free_at(task, node), free);
        }
        // Who only sends is done when what it sent has arrived.
        if (recorder_ == nullptr) continue;
        recorder_->communicated(node, index, begins_[rank], is_one_way(kind) && !receives ? through : dates_[rank],
                                receives);
      }
    }
  }

  void note_apart(std::size_t index, const FlowPart& part, double apart) {
    if (apart > worst_apart_) {
      const step::Task& task = schedule_.tasks[index];
      worst_apart_ = apart;
      worst_ = fmt::format("{} for {}", to_string(std::get<step::CollectiveTask>(task.what).kind), task.layer);
    }
    apart_.add(stage_of(part), apart);
  }

  void carry(const FlowTraffic& traffic, double times) {
    loads_.resize(network_.links().size());
    for (const auto& [link, load] : traffic.loads) {
      loads_[static_cast<std::size_t>(link)].payload += times * load.payload;
      loads_[static_cast<std::size_t>(link)].wire += times * load.wire;
    }
  }

  void add(const FlowPart& part, double times) {
    const FlowTraffic& traffic = *part.traffic;
    for (std::size_t rank = 0; rank < traffic.sent.size(); ++rank) {
      timing_.bytes_sent[part.nodes[rank]] += times * traffic.sent[rank];
      timing_.bytes_received[part.nodes[rank]] += times * traffic.received[rank];
    }
  }

  /// What has occurred often is added up once. Time was spent by the network that the last worker waits for.
  void count_occurrences(std::size_t last) {
    collectives_.for_each([&](const FlowPart& part) {
      const bool has_part = std::ranges::count(part.nodes, last) > 0;
      if (part.together != nullptr) {
        const auto times = static_cast<double>(part.times);
        add(part, times);
        if (has_part) {
          for (const auto& [what, seconds] : part.together->spent) spent_[what] += times * seconds;
        }
      }
      if (!has_part) return;
      for (const auto& [what, seconds] : part.spent) spent_[what] += seconds;
    });
  }

  /// The latency of a message from a node to another, seconds.
  double latency(std::size_t from, std::size_t to, double bytes) {
    const Path& path = network_[network_.path(collectives_.host(from), collectives_.host(to))];
    return path.latency + path.use.cost(bytes).overhead;
  }

  const Nodes& nodes_;
  const step::Schedule& schedule_;
  Interconnect& network_;
  bool by_closed_form_;
  TimelineRecorder* recorder_;
  Parts parts_;
  CriticalPaths paths_;
  ComputeTime compute_;
  FlowCollectives collectives_;
  FlowOverlaps overlaps_;
  std::vector<std::size_t> class_of_;      ///< per node: a number for its device, and how slow it is
  std::vector<StreamTime> streams_;        ///< per node: the compute stream
  std::vector<double> free_;               ///< per node and line: when it may begin its next collective with sending
  std::vector<double> known_;              ///< seconds of the task at hand, per class
  std::vector<double> dates_, begins_;     ///< of the collective at hand, per rank
  std::vector<CollectiveDates> progress_;  ///< per task; as long as it is waited for
  std::vector<std::size_t> last_wait_;     ///< per task: the last that waits for it; 0: none
  std::vector<const FlowPart*> together_;  ///< whose outcome is known, in the order in which it was found
  std::vector<LinkLoad> loads_;
  SpentSeconds spent_;
  StageSeconds apart_;         ///< seconds between the first and the last worker
  StageSeconds overlooked_;    ///< seconds that collectives would hold up others that share their links
  double taken_together_ = 0;  ///< seconds of `apart_`, of those that were taken as begun together
  double worst_apart_ = 0;     ///< of one
  std::string worst_;
  step::StepTiming timing_;
};

}  // namespace

Refused step_by_flow(const Nodes& nodes, const collectives::RankLayout& layout, const step::Schedule& schedule,
                     Interconnect& network, bool by_closed_form, FlowStep& result, TimelineRecorder* recorder) {
  StepByFlow step(nodes, layout, schedule, network, by_closed_form, recorder);
  if (Refused refused = step.run()) return refused;
  result = {std::move(step.timing()), std::move(step.loads())};
  return {};
}

}  // namespace dadsim::sim
