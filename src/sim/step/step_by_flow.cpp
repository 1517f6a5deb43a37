#include "sim/step/step_by_flow.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <variant>

#include "sim/step/beside_communication.hpp"
#include "sim/step/carried_traffic.hpp"
#include "sim/step/collective_dates.hpp"
#include "sim/step/critical_paths.hpp"
#include "sim/step/flow_collectives.hpp"
#include "sim/step/flow_doubts.hpp"
#include "sim/step/flow_framework.hpp"
#include "sim/step/followed_step.hpp"
#include "sim/step/host_link.hpp"
#include "sim/step/node_seconds.hpp"
#include "sim/step/step_semantics.hpp"
#include "sim/step/timeline_recorder.hpp"

namespace dadsim::sim {
namespace {

/// Share of the step so far by which ranks may begin large collectives apart, all added up, for these to count as begun
/// together, when the last rank begins. No message then leaves sooner than it would, nor later by more than that.
constexpr double kLateShare = 1e-4;

class StepByFlow {
 public:
  explicit StepByFlow(const FlowStepRequest& request)
      : nodes_(request.nodes),
        schedule_(request.schedule),
        network_(request.network),
        by_closed_form_(request.closed_form),
        all_enter_(request.all_enter),
        late_ranks_(request.late_ranks),
        without_(request.without),
        recorder_(request.recorder),
        parts_(request.parts),
        paths_(parts_.nodes(), parts_.lines()),
        seconds_(nodes_, parts_, schedule_, request.slowdown),
        collectives_(request.collectives),
        framework_(nodes_, parts_, collectives_, network_, request.without == Without::framework),
        overlaps_(request.overlaps),
        streams_(parts_.nodes()),
        host_links_(parts_.nodes()),
        beside_(nodes_, parts_, schedule_.precision),
        free_(parts_.nodes() * parts_.lines()),
        progress_(schedule_.tasks.size()),
        last_wait_(schedule_.tasks.size()),
        carried_(parts_.nodes()),
        doubts_(schedule_.pipeline) {
    for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
      const auto* wait = std::get_if<schedule::WaitTask>(&schedule_.tasks[i].what);
      if (wait != nullptr) last_wait_[static_cast<std::size_t>(wait->collective)] = i;
    }
    const KnownOverlaps known = request.known_overlaps;
    collectives_.begin_step(known != KnownOverlaps::nothing);
    if (known == KnownOverlaps::nothing) overlaps_.begin();
    if (known == KnownOverlaps::last_time) overlaps_.begin_again();
    if (known == KnownOverlaps::before) overlaps_.repeat(request.sharing);
  }

  Refused run() {
    if (Refused refused = collectives_.carry_out_largest(without_ == Without::network)) return refused;
    if (late_ranks_ == LateRanks::followed) {
      followed_.emplace(parts_, schedule_, collectives_);
      if (beside_.slows_any() || !followed_->serves(nodes_.framework != nullptr && !nodes_.framework->none()))
        followed_.reset();
      if (followed_) followed_->run(network_, seconds_);
    }
    for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
      const schedule::Task& task = schedule_.tasks[i];
      if (const auto* compute = std::get_if<schedule::ComputeTask>(&task.what)) {
        execute(i, *compute);
      } else if (std::holds_alternative<schedule::CollectiveTask>(task.what)) {
        if (Refused refused = communicate(i)) return refused;
      } else {
        const auto& wait = std::get<schedule::WaitTask>(task.what);
        const auto awaited = static_cast<std::size_t>(wait.collective);
        const Parts::Range nodes = parts_.with(wait.who, task.stage);
        for (std::size_t node = nodes.first; node < nodes.behind; ++node) wait_for(i, awaited, node);
        if (last_wait_[awaited] == i) progress_[awaited] = {};
      }
    }
    const std::size_t last = last_worker(streams_, parts_.workers());
    split_among_parts(streams_, last, streams_[last].end, timing_);
    if (Refused refused = doubts_.judge(timing_.seconds)) return refused;
    if (!single()) count_occurrences(last);
    if (followed_) spent_ = followed_->spent();
    timing_.bounds = bounds_of(paths_.of(last), collectives_.host(last)->get_cname(),
                               nodes_.devices[parts_.host_index(last)]->name, spent_, timing_.seconds);
    carried_.put_into(timing_);
    if (recorder_ != nullptr) recorder_->ended(timing_.seconds, last);
    for (const FlowPart* part : together_) carried_.add_to_links(*part->traffic, static_cast<double>(part->times));
    return {};
  }

  FlowStep take_result() {
    return {std::move(timing_), carried_.take_loads(), doubts_.entered_late(), messages_, doubts_.overlooked()};
  }

 private:
  void execute(std::size_t index, const schedule::ComputeTask& task) {
    const Parts::Range nodes = parts_.with(task.who, schedule_.tasks[index].stage);
    seconds_.begin(task);
    for (std::size_t node = nodes.first; node < nodes.behind; ++node) {
      double seconds = seconds_.of(node, task);
      StreamTime& stream = streams_[node];
      const bool copies = task.copy != schedule::HostCopy::none;
      seconds = copies ? host_links_[node].carry(task.copy, stream.end, seconds) - stream.end
                       : beside_.seconds(node, stream.end, seconds, free_);
      if (copies && seconds == 0) continue;
      if (recorder_ != nullptr) recorder_->computed(node, index, stream.end, stream.end + seconds);
      stream.end += seconds;
      stream.busy += seconds;
      if (is_compression(task.phase)) stream.compressing += seconds;
      paths_.computed(node, seconds);
    }
  }

  void wait_for(std::size_t index, std::size_t awaited, std::size_t node) {
    StreamTime& stream = streams_[node];
    const schedule::Task& task = schedule_.tasks[awaited];
    const double begin = stream.end;
    const std::size_t slot = slot_of(task, node);
    const double end = CollectiveDates::of(progress_[awaited].done, slot);
    if (end <= begin) return;
    stream.end = end;
    if (recorder_ != nullptr) recorder_->waited(node, index, begin, end);
    const bool gets = parts_.gets_something(task, node);
    double for_others = gets ? waiting_for_others(begin, end, CollectiveDates::of(progress_[awaited].issued, slot)) : 0;
    stream.waiting += for_others;
    if (single()) for_others = 0;
    if (parts_.issuers(task).holds(node)) {
      paths_.waited(node, Parts::line_of(task), end, for_others);
    } else {
      paths_.received(node, begin, end, for_others);
    }
  }

  std::size_t slot_of(const schedule::Task& task, std::size_t node) const {
    const Parts::Range issuers = parts_.issuers(task);
    return issuers.holds(node) ? node - issuers.first : issuers.size() + node - parts_.receivers(task).first;
  }

  Refused communicate(std::size_t index) {
    const schedule::Task& task = schedule_.tasks[index];
    const std::size_t slots = parts_.issuers(task).size() + parts_.receivers(task).size();
    CollectiveDates& progress = progress_[index];
    const bool awaited = last_wait_[index] > 0;
    if (awaited) progress = {std::vector<double>(slots), std::vector<double>(slots)};
    doubts_.next();
    for (FlowPart& part : collectives_.of(task)) {
      if (Refused refused = communicate(index, part)) return refused;
      if (Refused refused = doubts_.judge_early(seconds_.of_step(), dates_)) return refused;
    }
    if (awaited) progress.shorten();
    return {};
  }

  Refused communicate(std::size_t index, FlowPart& part) {
    const schedule::Task& task = schedule_.tasks[index];
    const std::size_t ranks = part.nodes.size();
    const Parts::Range receivers = parts_.receivers(task);
    double earliest = std::numeric_limits<double>::infinity(), latest = 0;
    std::vector<double>& dates = dates_;
    dates.assign(ranks, 0);
    const std::vector<FrameworkCost>& framework = framework_.of(task, part);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t node = part.nodes[rank];
      if (receivers.holds(node)) continue;
      const double free = free_at(task, node);
      if (free <= streams_[node].end) paths_.line_begins(node, Parts::line_of(task), streams_[node].end);
      dates[rank] = std::max(streams_[node].end, free) + (framework.empty() ? 0 : framework[rank].before);
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
      doubts_.apart(stage_of(part), task, latest - earliest);
      earliest = latest;
      even = true;
    }
    for (double& date : dates) date = std::max(date, earliest);
    if (!framework.empty()) framework_.begin(dates);
    if (recorder_ != nullptr) begins_ = dates;
    issue(index, part);
    if (without_ == Without::network) {
      collectives_.pass_by_software(part, dates);
      finish(index, part);
      return {};
    }
    if (followed_) {
      dates = followed_->through(index);
      carried_.add_to_nodes(part, 1);
      carried_.add_to_links(*part.traffic, 1);
      finish(index, part);
      return {};
    }
    if (even && part.together != nullptr) {
      for (std::size_t rank = 0; rank < ranks; ++rank) dates[rank] += part.together->seconds[rank];
      beside_others(part, earliest);
    } else {
      const bool unequal = !even && (all_enter_ || seconds_.are_unequal());
      if (Refused refused = unequal ? collectives_.solve(part) : Refused()) return refused;
      const bool known = unequal && part.solved->is_known();
      const bool late = known && late_ranks_ != LateRanks::followed;
      if (!even && !known && !by_closed_form_) doubts_.apart(stage_of(part), task, latest - earliest);
      if (late) {
        enter_late(part, earliest, latest);
      } else if (even) {
        FlowOutcome outcome;
        if (Refused refused = collectives_.carry_out(part, dates, earliest, latest, outcome)) return refused;
        part.together = std::make_unique<const FlowOutcome>(std::move(outcome));
        beside_others(part, earliest);
      } else {
        const FlowOutcome* outcome = nullptr;
        if (Refused refused = collectives_.carry_out_apart(part, dates, earliest, latest, outcome, known))
          return refused;
        if (known) doubts_.followed(stage_of(part), task, earliest, dates, *part.solved);
        beside_others(part, earliest);
        carried_.add_to_nodes(part, 1);
        for (const auto& [what, seconds] : outcome->spent) (single() ? spent_ : part.spent)[what] += seconds;
        carried_.add_to_links(*part.traffic, 1);
      }
    }
    if (even) {
      if (part.times++ == 0) together_.push_back(&part);
      if (single()) {
        carried_.add_to_nodes(part, 1);
        for (const auto& [what, seconds] : part.together->spent) spent_[what] += seconds;
      }
    }
    finish(index, part);
    return {};
  }

  /// Ranks begin apart: as far as links are shared, as if all had begun together.
  void enter_late(FlowPart& part, double earliest, double latest) {
    begun_ = dates_;
    part.solved->enter(dates_);
    const double wrong_by = part.solved->doubt(latest - earliest);
    doubts_.entered_late(stage_of(part), wrong_by);
    messages_ += part.solved->carried();
    if (late_ranks_ != LateRanks::enter) {
      const double more = late_ranks_ == LateRanks::later ? wrong_by : -wrong_by;
      for (std::size_t rank = 0; rank < dates_.size(); ++rank) {
        dates_[rank] = std::max(begun_[rank], dates_[rank] + more);
      }
    }
    beside_others(part, latest);
    carried_.add_to_nodes(part, 1);
    for (const auto& [what, seconds] : part.together->spent) (single() ? spent_ : part.spent)[what] += seconds;
    carried_.add_to_links(*part.traffic, 1);
  }

  /// Where others share its links meanwhile, it takes longer.
  void beside_others(FlowPart& part, double begin) {
    if (single() || by_closed_form_ || part.traffic->loads.empty()) return;
    const double seconds = *std::ranges::max_element(dates_) - begin;
    if (!part.number)
      part.number =
          overlaps_.add(part.traffic->loads, seconds, collectives_.messages_on(part), part.rounds->pace().in_flight);
    const FlowOverlaps::Occurrence occurrence = overlaps_.occur(*part.number, begin, seconds);
    doubts_.overlooked(stage_of(part), occurrence.overlooked);
    if (occurrence.seconds <= seconds) return;
    for (double& date : dates_) {
      if (date > begin) date = begin + (date - begin) * (occurrence.seconds / seconds);
    }
  }

  std::size_t stage_of(const FlowPart& part) const {
    return part.nodes.front() / (parts_.workers() / static_cast<std::size_t>(schedule_.pipeline));
  }

  bool single() const { return parts_.single_devices(); }
  double& free_at(const schedule::Task& task, std::size_t node) {
    return free_[node * parts_.lines() + Parts::line_of(task)];
  }

  /// When the last had issued it of those that a rank gets something from: all of its group, or its neighbours.
  void issue(std::size_t index, const FlowPart& part) {
    if (last_wait_[index] == 0) return;
    const schedule::Task& task = schedule_.tasks[index];
    const Parts::Range issuers = parts_.issuers(task);
    const step::Neighbours* neighbours = std::get<schedule::CollectiveTask>(task.what).neighbours.get();
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

  /// Once `dates_` says when messages are through.
  void finish(std::size_t index, FlowPart& part) {
    framework_.add(part, dates_, single() ? spent_ : part.spent);
    const schedule::Task& task = schedule_.tasks[index];
    const auto& collective = std::get<schedule::CollectiveTask>(task.what);
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
          const std::size_t to = part.ends[group] - 1;
          const double bytes = kind == step::CollectiveKind::stage_send ? collective.bytes[parts_.entry(node)] : 1;
          const double free = sends_ahead ? through - collectives_.latency(part, rank, to, bytes) : dates_[rank];
          free_at(task, node) = std::max(free_at(task, node), free);
        }
        // Who only sends is done when what it sent has arrived.
        if (recorder_ == nullptr) continue;
        recorder_->communicated(node, index, begins_[rank], is_one_way(kind) && !receives ? through : dates_[rank],
                                receives);
      }
    }
  }

  /// Adds up once what occurred often. The network that the last worker waits for spent time.
  void count_occurrences(std::size_t last) {
    collectives_.for_each([&](const FlowPart& part) {
      const bool has_part = std::ranges::count(part.nodes, last) > 0;
      if (part.together != nullptr) {
        const auto times = static_cast<double>(part.times);
        carried_.add_to_nodes(part, times);
        if (has_part) {
          for (const auto& [what, seconds] : part.together->spent) spent_[what] += times * seconds;
        }
      }
      if (!has_part) return;
      for (const auto& [what, seconds] : part.spent) spent_[what] += seconds;
    });
  }

  const Nodes& nodes_;
  const schedule::Schedule& schedule_;
  Interconnect& network_;
  bool by_closed_form_, all_enter_;
  LateRanks late_ranks_;
  Without without_;
  double messages_ = 0;
  TimelineRecorder* recorder_;
  const Parts& parts_;
  CriticalPaths paths_;
  NodeSeconds seconds_;
  FlowCollectives& collectives_;
  FlowFramework framework_;
  std::optional<FollowedStep> followed_;  ///< with whose dates collectives are through, if there is one
  FlowOverlaps& overlaps_;
  std::vector<StreamTime> streams_;  ///< per node: the compute stream
  std::vector<HostLink> host_links_;
  BesideCommunication beside_;
  std::vector<double> free_;  ///< per node and line: when it may begin its next collective with sending
  std::vector<double> dates_, begins_, begun_;  ///< of the collective at hand, per rank
  std::vector<CollectiveDates> progress_;       ///< per task; as long as it is waited for
  std::vector<std::size_t> last_wait_;          ///< per task: the last that waits for it; 0: none
  std::vector<const FlowPart*> together_;       ///< whose outcome is known, in the order in which it was found
  CarriedTraffic carried_;
  SpentSeconds spent_;
  FlowDoubts doubts_;
  double taken_together_ = 0;  ///< seconds between first and last, of what was taken as begun together
  step::StepTiming timing_;
};

}  // namespace

Refused step_by_flow(const FlowStepRequest& request, FlowStep& result) {
  StepByFlow step(request);
  if (Refused refused = step.run()) return refused;
  result = step.take_result();
  return {};
}

}  // namespace dadsim::sim
