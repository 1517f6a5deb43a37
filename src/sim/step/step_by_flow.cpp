#include "sim/step/step_by_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "sim/flow/flow_events.hpp"
#include "sim/flow/max_plus_rounds.hpp"
#include "sim/step/beside_communication.hpp"
#include "sim/step/collective_choice.hpp"
#include "sim/step/compute_time.hpp"
#include "sim/step/framework_costs.hpp"
#include "sim/step/host_link.hpp"
#include "sim/step/timeline_recorder.hpp"

namespace dadsim::sim {

/// Seconds of a schedule's computations on its nodes. Nodes with equal devices and equal work are computed once.
class NodeSeconds {
 public:
  /// `slowdown`: per host, multiplies the seconds; empty: 1.
  NodeSeconds(const Nodes& nodes, const Parts& parts, const schedule::Schedule& schedule,
              const std::vector<double>& slowdown)
      : parts_(parts), schedule_(schedule), slowdown_(slowdown), compute_(nodes.devices, schedule) {
    std::map<std::pair<std::string, double>, std::size_t> classes;
    for (std::size_t node = 0; node < parts.nodes(); ++node) {
      const spec::DeviceSpec& device = *nodes.devices[parts.host_index(node)];
      class_of_.push_back(classes.try_emplace({device.name, device.slowdown}, classes.size()).first->second);
    }
    classes_ = classes.size();
    rows_ = classes_ * schedule.tasks.size() <= kMostKept ? schedule.tasks.size() : 1;
    known_.assign(classes_ * rows_, kUnknown);
    const auto differs = [](const schedule::Task& task) {
      const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
      return compute != nullptr && !is_uniform(*compute);
    };
    const auto workers = std::span(class_of_).first(parts.workers());
    are_unequal_ = std::ranges::adjacent_find(slowdown, std::not_equal_to()) != slowdown.end() ||
                   std::ranges::any_of(schedule.tasks, differs) ||
                   std::ranges::adjacent_find(workers, std::not_equal_to()) != workers.end();
  }

  /// Returns whether workers compute at different speeds, or different amounts.
  bool are_unequal() const { return are_unequal_; }

  /// Returns the seconds of the workers' computations in a step on the first worker's device, over all stages.
  double of_step() {
    if (of_step_ < 0) {
      of_step_ = 0;
      for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
        const auto* compute = std::get_if<schedule::ComputeTask>(&schedule_.tasks[i].what);
        if (compute == nullptr || compute->who != step::Role::workers || compute->copy != schedule::HostCopy::none)
          continue;
        of_step_ += of(0, i, *compute);
      }
    }
    return of_step_;
  }

  /// Returns the node's seconds for a task.
  double of(std::size_t node, std::size_t index, const schedule::ComputeTask& task) {
    const std::size_t host = parts_.host_index(node);
    if (rows_ == 1 && index != std::exchange(at_, index)) std::ranges::fill(known_, kUnknown);
    double& known = known_[(rows_ == 1 ? 0 : index) * classes_ + class_of_[node]];
    double seconds = known;
    if (seconds == kUnknown) {
      seconds = compute_.seconds(host, task, parts_.entry(node));
      const bool here = compute_.is_plain() || parts_.with(task.who, schedule_.tasks[index].stage).holds(node);
      if (here && is_uniform(task)) known = seconds;
    }
    return slowdown_.empty() ? seconds : seconds * slowdown_[host];
  }

 private:
  static constexpr double kUnknown = -1;
  static constexpr std::size_t kMostKept = 20'000'000;  ///< largest number of seconds that are kept

  static bool is_uniform(const schedule::ComputeTask& task) {
    return task.flops.is_uniform() && task.bytes_moved.is_uniform() && task.launches.is_uniform() &&
           task.seconds.is_uniform();
  }

  const Parts& parts_;
  const schedule::Schedule& schedule_;
  const std::vector<double>& slowdown_;
  ComputeTime compute_;
  std::vector<std::size_t> class_of_;  ///< class of each node, by device and slowdown
  std::size_t classes_, rows_;         ///< number of classes, and of tasks whose seconds are kept: all, or one
  std::size_t at_ = 0;                 ///< task whose seconds are kept, if one is
  std::vector<double> known_;          ///< seconds without slowdown, per task and class
  double of_step_ = -1;                ///< seconds of a step; negative: not known yet
  bool are_unequal_ = false;
};

namespace {

/// Sums of seconds in doubt, per stage. Doubts of a stage's tasks add up, since tasks follow one another. Of the parts
/// of a task only the largest doubt counts.
class StageSeconds {
 public:
  explicit StageSeconds(std::int32_t stages)
      : all_(static_cast<std::size_t>(stages)), worst_(all_.size()), of_task_(all_.size()) {}
  /// Begins another task.
  void next() { std::ranges::fill(of_task_, 0); }
  void add(std::size_t stage, double seconds) {
    if (seconds <= of_task_[stage]) return;
    all_[stage] += seconds - of_task_[stage];
    of_task_[stage] = seconds;
    worst_[stage] = std::max(worst_[stage], seconds);
  }
  /// Returns the largest doubt of a step: all tasks of one stage, and one task of every other stage, since
  /// micro-batches pass all stages.
  double most() const {
    double once = 0;
    for (const double worst : worst_) once += worst;
    double most = 0;
    for (std::size_t stage = 0; stage < all_.size(); ++stage) {
      most = std::max(most, all_.size() == 1 ? all_[stage] : all_[stage] + once - worst_[stage]);
    }
    return most;
  }

 private:
  std::vector<double> all_, worst_, of_task_;  ///< sums for each stage
};

/// Doubts about a step by flow, one for each assumption.
class FlowDoubts {
 public:
  explicit FlowDoubts(std::int32_t stages) : apart_(stages), entered_late_(stages), overlooked_(stages) {}

  /// Begins another task.
  void next() {
    apart_.next();
    entered_late_.next();
    overlooked_.next();
  }
  /// Adds the seconds between the first and the last rank that begin a collective, which is timed as if all began
  /// together.
  void apart(std::size_t stage, const schedule::Task& task, double seconds) {
    if (seconds > worst_apart_) {
      worst_apart_ = seconds;
      worst_ = fmt::format("{} for {}", to_string(std::get<schedule::CollectiveTask>(task.what).kind), task.layer);
    }
    apart_.add(stage, seconds);
  }
  /// Adds the seconds in doubt of a collective that ranks enter late.
  void entered_late(std::size_t stage, double seconds) { entered_late_.add(stage, seconds); }
  double entered_late() const { return entered_late_.most(); }
  double overlooked() const { return overlooked_.most(); }
  /// Adds a collective simulated from the arrival of its ranks (the first at `first`) until they are done (`through`).
  /// Its ranks may share links with ranks still in the previous collective on the same line, which adds doubt.
  void followed(std::size_t stage, const schedule::Task& task, double first, const std::vector<double>& through,
                const MaxPlusRounds& solved) {
    double& before = through_[{stage, Parts::line_of(task)}];
    if (before > first) apart(stage, task, solved.doubt(before - first));
    before = *std::ranges::max_element(through);
  }
  /// Adds the seconds by which a collective would delay others that share its links.
  void overlooked(std::size_t stage, double seconds) { overlooked_.add(stage, seconds); }

  /// Refuses early if workers arrive at collectives at such different dates that the finished step would be refused.
  /// `computing`: seconds of computation in the step. `dates`: those reached so far.
  Refused judge_early(double computing, const std::vector<double>& dates) const {
    const double all = apart_.most();
    if (!(all > 2 * kMost * computing)) return {};
    const double seconds = std::max(computing, *std::ranges::max_element(dates));
    return all > 2 * kMost * seconds ? judge(seconds) : Refused();
  }

  /// Refuses if the doubt is too large for a step of `seconds`.
  Refused judge(double seconds) const {
    // Bounds the error of early ranks: they may find the network less busy, by at most the time that they are early.
    if (const double all = apart_.most(); all > kMost * seconds) {
      return FlowRefusal{
          fmt::format(
              "ranks reach collectives at different times ({:.3g} s for {}; {:.3g} s in all of a step of {:.3g} s)",
              worst_apart_, worst_, all, seconds),
          0, true};
    }
    return {};
  }

 private:
  static constexpr double kMost = 0.005;  ///< largest doubt, summed over all collectives, as a share of the step
  StageSeconds apart_, entered_late_, overlooked_;
  std::map<std::pair<std::size_t, std::size_t>, double>
      through_;             ///< dates at which the last simulated collective ended, per stage and line
  double worst_apart_ = 0;  ///< largest difference between ranks at a single collective, seconds
  std::string worst_;
};

/// Collectives of a step, all simulated together message by message. A rank that is early in one shares links with
/// ranks still in the previous one. The result equals that of replaying the step, but takes a microsecond per message,
/// without SimGrid.
class FollowedStep {
 public:
  static constexpr double kMostMessages = 2.5e6;  ///< largest number of messages, of some 40 bytes each

  FollowedStep(const Parts& parts, const schedule::Schedule& schedule, FlowCollectives& collectives)
      : parts_(parts), schedule_(schedule), collectives_(collectives) {}

  /// Returns whether the step is supported. Replicas must be single devices, and all must take part in each collective.
  /// Collectives must be eager and have few enough messages. Devices must not copy to their hosts.
  bool serves(bool with_framework);
  /// Simulates the step; `seconds` returns the seconds of computations.
  void run(Interconnect& network, NodeSeconds& seconds);

  /// Returns the dates at which the workers finish the collective of this task, seconds.
  const std::vector<double>& through(std::size_t task) const { return through_[number_of_[task]]; }
  /// Returns the network seconds by cause for which the last worker waited.
  const SpentSeconds& spent() const { return spent_; }

 private:
  /// Action of a worker between two collectives: a computation, or a wait for an earlier collective.
  struct Action {
    std::size_t compute = 0;  ///< index in seconds_
    std::size_t wait = 0;     ///< collective to wait for
    enum class Kind : std::uint8_t { compute, wait, begin } kind = Kind::begin;
  };
  /// Compute stream of a worker: its next action, its date, and the message for which it waited.
  struct DeviceStream {
    std::size_t next = 0;
    FlowEvents::Moment at;
  };

  void list_actions(NodeSeconds& seconds);
  FlowEvents::Moment go_on(std::size_t worker, std::size_t collective, const FlowEvents::Moment& through);

  const Parts& parts_;
  const schedule::Schedule& schedule_;
  FlowCollectives& collectives_;
  std::vector<const FlowPart*> sequence_;  ///< parts of the collectives, in order
  std::vector<std::size_t> number_of_;     ///< number of each task's collective
  std::vector<Action> actions_;
  std::vector<std::vector<double>> seconds_;       ///< seconds of computing, per action and worker
  std::vector<DeviceStream> streams_;              ///< stream of each worker
  std::vector<std::vector<double>> through_;       ///< date at which a worker finishes, per collective and worker
  std::vector<std::vector<std::int32_t>> causes_;  ///< message for which each worker waited, per collective
  SpentSeconds spent_;
};

bool FollowedStep::serves(bool with_framework) {
  if (!parts_.single_devices() || parts_.nodes() > parts_.workers() || with_framework) return false;
  sequence_.clear();
  number_of_.assign(schedule_.tasks.size(), 0);
  std::map<const FlowPart*, double> messages_of;
  double messages = 0;
  for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
    const schedule::Task& task = schedule_.tasks[i];
    const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
    if (compute != nullptr && compute->copy != schedule::HostCopy::none) return false;
    if (!std::holds_alternative<schedule::CollectiveTask>(task.what)) continue;
    const std::vector<FlowPart>& parts = collectives_.of(task);
    if (parts.size() != 1) return false;
    const FlowPart& part = parts.front();
    const collectives::Pace pace = part.rounds->pace();
    if (part.traffic == nullptr || part.nodes.size() != parts_.workers() || !std::ranges::is_sorted(part.nodes) ||
        pace.handshake != collectives::Pace::Handshake::eager || pace.at_once != 1)
      return false;
    const auto [own, added] = messages_of.try_emplace(&part, 0);
    if (added) own->second = CollectiveChoices::messages_of(*part.rounds);
    messages += own->second;
    if (messages > kMostMessages) return false;
    number_of_[i] = sequence_.size();
    sequence_.push_back(&part);
  }
  return !sequence_.empty();
}

void FollowedStep::run(Interconnect& network, NodeSeconds& seconds) {
  list_actions(seconds);
  streams_.assign(parts_.workers(), {});
  through_.assign(sequence_.size(), std::vector<double>(parts_.workers()));
  causes_.assign(sequence_.size(), std::vector<std::int32_t>(parts_.workers(), FlowEvents::kStart));
  std::vector<const collectives::Rounds*> rounds;
  for (const FlowPart* part : sequence_) rounds.push_back(part->rounds.get());
  FlowEvents events(network, sequence_.front()->hosts);
  events.run_together(rounds, [this](collectives::Rank rank, std::size_t next, const FlowEvents::Moment& through) {
    return go_on(static_cast<std::size_t>(rank), next, through);
  });
  const auto last = std::ranges::max_element(streams_, {}, [](const DeviceStream& stream) { return stream.at.date; });
  events.account_for(last->at.cause);
  spent_ = events.spent();
}

void FollowedStep::list_actions(NodeSeconds& seconds) {
  actions_.clear();
  seconds_.clear();
  for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
    const schedule::Task& task = schedule_.tasks[i];
    if (const auto* compute = std::get_if<schedule::ComputeTask>(&task.what)) {
      if (compute->who != step::Role::workers) continue;
      // Merges consecutive computations.
      if (actions_.empty() || actions_.back().kind != Action::Kind::compute) {
        actions_.push_back({.compute = seconds_.size(), .kind = Action::Kind::compute});
        seconds_.emplace_back(parts_.workers(), 0.0);
      }
      for (std::size_t worker = 0; worker < parts_.workers(); ++worker)
        seconds_.back()[worker] += seconds.of(worker, i, *compute);
    } else if (const auto* wait = std::get_if<schedule::WaitTask>(&task.what)) {
      if (wait->who != step::Role::workers) continue;
      actions_.push_back({.wait = number_of_[static_cast<std::size_t>(wait->collective)], .kind = Action::Kind::wait});
    } else {
      actions_.push_back({.kind = Action::Kind::begin});
    }
  }
}

/// Executes the actions before the worker's next collective; after the last collective, the remaining actions of the
/// step.
FlowEvents::Moment FollowedStep::go_on(std::size_t worker, std::size_t collective, const FlowEvents::Moment& through) {
  if (collective > 0) {
    through_[collective - 1][worker] = through.date;
    causes_[collective - 1][worker] = through.cause;
  }
  DeviceStream& stream = streams_[worker];
  while (stream.next < actions_.size()) {
    const Action& action = actions_[stream.next++];
    if (action.kind == Action::Kind::begin) break;
    if (action.kind == Action::Kind::compute) {
      stream.at.date += seconds_[action.compute][worker];
    } else if (const double date = through_[action.wait][worker]; date > stream.at.date) {
      stream.at = {date, causes_[action.wait][worker]};
    }
  }
  return collective > 0 && through.date > stream.at.date ? through : stream.at;
}

constexpr double kLeast = 0.5;       // least share of a link that other collectives leave
constexpr double kMostLonger = 7.0;  // largest relative delay for which overlaps are searched

/// Returns the relative delay of a collective that would send all the time at `share` of a link. Another sender takes
/// `others_share`, and leaves at least `fair` of the link.
double longer_by(double share, double others_share, double fair) {
  return share / std::min(share, std::max(1 - others_share, fair)) - 1;
}

/// Returns the index of the first sorted item that begins at `date` or later, like std::ranges::lower_bound. The search
/// starts at `near`, the last result, because dates usually increase by little.
template <class Sorted, class Begin>
std::size_t first_from(const Sorted& sorted, double date, std::size_t near, const Begin& begin) {
  std::size_t low = std::min(near, sorted.size());
  std::size_t high = low;
  for (std::size_t step = 1; high < sorted.size() && begin(sorted[high]) < date; step *= 2) {
    low = high + 1;
    high = std::min(sorted.size(), high + step);
  }
  if (low == high) {
    for (std::size_t step = 1; low > 0 && begin(sorted[low - 1]) >= date; step *= 2) {
      high = low - 1;
      low = high > step ? high - step : 0;
    }
  }
  const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(low);
  const auto to = sorted.begin() + static_cast<std::ptrdiff_t>(high);
  const auto is_before = [&](const auto& one) { return begin(one) < date; };
  return static_cast<std::size_t>(std::partition_point(from, to, is_before) - sorted.begin());
}

}  // namespace

void FlowOverlaps::begin() {
  collectives_.clear();
  users_.clear();
  is_again_ = false;
}

void FlowOverlaps::begin_again() {
  for (TimedCollective& one : collectives_) {
    one.expected.clear();
    one.expected_begins.clear();
    for (std::size_t which = 0; which < one.in_order.size(); ++which) {
      one.expected.push_back({one.in_order[which], which});
      one.expected_begins.push_back(one.in_order[which].begin);
    }
    std::ranges::stable_sort(one.expected, {}, [](const Expected& known) { return known.span.begin; });
  }
  is_again_ = true;
  repeat();
}

void FlowOverlaps::repeat(SharedLinks sharing) {
  sharing_ = sharing;
  forget_spans();
}

void FlowOverlaps::forget_spans() {
  for (TimedCollective& one : collectives_) {
    one.spans.clear();
    one.in_order.clear();
    one.last_end = 0;
    one.late = 0;
    one.near_span = one.near_expected = 0;
  }
}

std::size_t FlowOverlaps::add(const std::vector<std::pair<std::int32_t, LinkLoad>>& loads, double seconds,
                              MessagesOn messages_on, std::int64_t in_flight) {
  const std::size_t number = collectives_.size();
  collectives_.emplace_back().messages_on = std::move(messages_on);
  collectives_.back().in_flight = static_cast<double>(in_flight);
  for (const auto& [index, load] : loads) {
    const NetworkLink& link = network_.link(index);
    if (!link.shared || !(load.wire > 0) || !(seconds > 0)) continue;
    const double share = std::min(1.0, load.wire / link.bandwidth / seconds);
    std::vector<User>& users = users_[index];
    for (const User& user : users) {
      meet(index, number, share, user);
      meet(index, user.number, user.share, {number, share});
    }
    users.push_back({number, share});
  }
  return number;
}

void FlowOverlaps::meet(std::int32_t link, std::size_t number, double share, const User& user) {
  if (share + user.share <= 1) return;
  std::vector<Other>& others = collectives_[number].others;
  auto known = std::ranges::find(others, user.number, &Other::number);
  if (known == others.end()) known = others.insert(known, {.number = user.number});
  Other& other = *known;
  other.pace = std::min(other.pace, std::max(1 - user.share, kLeast) / share);
  TimedCollective& own = collectives_[number];
  const TimedCollective& others_own = collectives_[user.number];
  const double messages = own.messages_on(link);
  const double others_messages = others_own.messages_on(link);
  const double fair = messages / (messages + others_messages);
  other.holds_up = std::max(other.holds_up, longer_by(user.share, share, 1 - fair));
  const double many = messages * own.in_flight;
  other.least = std::max(other.least, longer_by(share, user.share, many / (many + others_messages)));
  const double others_many = others_messages * others_own.in_flight;
  const double left = std::max(1 - user.share, messages / (messages + others_many));
  own.most += std::max(0.0, share * (1 / left - 1) - other.most);
  other.most = std::max(other.most, share * (1 / left - 1));
  if (other.link < 0) other.link = link;
  const double longer = longer_by(share, user.share, fair);
  if (longer <= other.longer) return;
  own.longer += longer - other.longer;
  other.longer = longer;
  other.link = link;
}

/// Adds the periods in which another collective overlaps: past periods that end after `begin`, and expected ones.
void FlowOverlaps::add_beside(TimedCollective& of, const Other& other, double begin, double until) {
  if (of.last_end > begin) {
    std::size_t i = of.near_span =
        first_from(of.spans, until, of.near_span, [](const StepSpan& span) { return span.begin; });
    while (i > 0 && of.spans[--i].end > begin) beside_.push_back({of.spans[i], &other});
  }
  const std::size_t occurred = of.in_order.size();
  if (occurred >= of.expected.size()) return;
  std::size_t i = of.near_expected = first_from(of.expected, until - of.late, of.near_expected,
                                                [](const Expected& known) { return known.span.begin; });
  while (i > 0 && of.expected[--i].span.end + of.late > begin) {
    const Expected& known = of.expected[i];
    if (known.which >= occurred) beside_.push_back({{known.span.begin + of.late, known.span.end + of.late}, &other});
  }
}

/// Returns the pace of the current occurrence. Delays by several collectives on one link add up; the link with the
/// largest delay sets the pace.
double FlowOverlaps::pace_beside(const std::vector<std::size_t>& there, double& holds_up) {
  double pace = 1;
  longer_on_.clear();
  for (const std::size_t i : there) {
    const Other& other = *beside_[i].other;
    holds_up += other.holds_up;
    if (!is_again_) {
      pace = std::min(pace, other.pace);
      continue;
    }
    const double longer = sharing_ == SharedLinks::expected ? other.longer
                          : sharing_ == SharedLinks::least  ? other.least
                                                            : std::max(other.longer, other.most);
    const auto known = std::ranges::find(longer_on_, other.link, &std::pair<std::int32_t, double>::first);
    if (known == longer_on_.end()) {
      longer_on_.emplace_back(other.link, longer);
    } else {
      known->second += longer;
    }
  }
  for (const auto& [link, longer] : longer_on_) pace = std::min(pace, 1 / (1 + longer));
  return pace;
}

/// Times a collective that begins at `begin` and takes `seconds` alone, while the occurrences in `beside_` are in
/// progress. The pace changes whenever one of these begins or ends.
FlowOverlaps::Occurrence FlowOverlaps::go_on_beside(double begin, double seconds) {
  dates_.clear();
  order_.clear();
  for (std::size_t i = 0; i < beside_.size(); ++i) {
    const StepSpan& span = beside_[i].span;
    if (span.begin > begin) dates_.push_back(span.begin);
    dates_.push_back(span.end);
    order_.push_back(i);
  }
  std::ranges::sort(dates_);
  std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return beside_[i].span.begin; });
  there_.clear();
  std::size_t next_there = 0;
  double now = begin;
  double left = seconds;
  Occurrence occurrence;
  for (const double date : dates_) {
    if (date <= now) continue;
    while (next_there < order_.size() && beside_[order_[next_there]].span.begin <= now) {
      const std::size_t i = order_[next_there++];
      there_.insert(std::ranges::upper_bound(there_, i), i);
    }
    std::erase_if(there_, [&](std::size_t i) { return beside_[i].span.end <= now; });
    double holds_up = 0;
    const double pace = pace_beside(there_, holds_up);
    const double next = std::min(date, now + left / pace);
    left -= (next - now) * pace;
    occurrence.overlooked += (next - now) * holds_up;
    now = next;
    if (next < date) {
      left = 0;
      break;
    }
  }
  occurrence.seconds = now + left - begin;
  return occurrence;
}

FlowOverlaps::Occurrence FlowOverlaps::occur(std::size_t number, double begin, double seconds) {
  TimedCollective& own = collectives_[number];
  beside_.clear();
  const double longer = sharing_ == SharedLinks::most ? own.most : own.longer;
  const double until = begin + seconds * (is_again_ ? 1 + std::min(longer, kMostLonger) : 1 / kLeast);
  for (const Other& other : own.others) add_beside(collectives_[other.number], other, begin, until);
  Occurrence occurrence = beside_.empty() ? Occurrence{.seconds = seconds} : go_on_beside(begin, seconds);
  const std::size_t which = own.in_order.size();
  if (which < own.expected_begins.size()) {
    own.late = begin - own.expected_begins[which];
    occurrence.overlooked = 0;
  }
  const StepSpan span{begin, begin + occurrence.seconds};
  own.in_order.push_back(span);
  own.last_end = std::max(own.last_end, span.end);
  if (own.spans.empty() || own.spans.back().begin <= begin) {
    own.spans.push_back(span);
  } else {
    own.spans.insert(std::ranges::upper_bound(own.spans, begin, {}, &StepSpan::begin), span);
  }
  return occurrence;
}

namespace {

/// Costs that a framework adds to collectives, by flow.
class FlowFramework {
 public:
  /// `no_time`: the framework adds nothing.
  FlowFramework(const Nodes& nodes, const Parts& parts, const FlowCollectives& collectives, Interconnect& network,
                bool no_time)
      : nodes_(nodes), parts_(parts), collectives_(collectives), network_(network), no_time_(no_time) {}

  /// Returns the costs by rank; empty if there are none.
  const std::vector<FrameworkCost>& of(const schedule::Task& task, FlowPart& part) const {
    if (no_time_) return none_;
    const auto& collective = std::get<schedule::CollectiveTask>(task.what);
    if (part.framework) return *part.framework;
    part.framework.emplace();
    if (nodes_.framework == nullptr || collective.among != schedule::Among::replicas) return *part.framework;
    *part.framework = framework_costs(
        *nodes_.framework, *part.rounds,
        [&](std::size_t rank) { return collective.bytes[parts_.entry(part.nodes[rank])]; },
        [&](std::size_t rank) { return !parts_.is_worker(part.nodes[rank]); },
        [&](std::size_t from, std::size_t to) {
          const auto host = [&](std::size_t rank) { return collectives_.host(part.nodes[rank]); };
          return network_[network_.path(host(from), host(to))].transfer_rate();
        });
    return *part.framework;
  }

  /// Sets the dates at which the ranks' first messages may leave.
  void begin(const std::vector<double>& leaves) { leaves_ = leaves; }
  /// Replaces `dates`, at which the last messages arrive, by the dates at which ranks are done. Adds the framework's
  /// seconds to `spent`.
  void add(const FlowPart& part, std::vector<double>& dates, SpentSeconds& spent) const {
    if (no_time_ || part.framework->empty()) return;
    const std::vector<FrameworkCost>& framework = *part.framework;
    double before = 0;
    double after = 0;
    for (std::size_t rank = 0; rank < framework.size(); ++rank) {
      const double done = framework[rank].done(leaves_[rank], dates[rank]);
      before = std::max(before, framework[rank].before);
      after = std::max(after, done - dates[rank]);
      dates[rank] = done;
    }
    spent[{"framework", collectives_.host(part.nodes.front())->get_cname()}] += before + after;
  }

 private:
  const Nodes& nodes_;
  const Parts& parts_;
  const FlowCollectives& collectives_;
  Interconnect& network_;
  bool no_time_;
  std::vector<FrameworkCost> none_;
  std::vector<double> leaves_;  ///< dates at which first messages of the current collective leave
};

/// Seconds by cause on the chain of causes that led a node to a date. Their sum is that date.
struct CriticalPath {
  double computing = 0, network = 0, for_others = 0;
};

/// Critical path of every node, up to the date of its compute stream. A wait that ends late puts the network on the
/// path, from the date since which the collective's line has been busy. Computations in that time delayed nothing.
/// Later collectives on the same line extend that period.
class CriticalPaths {
 public:
  CriticalPaths(std::size_t nodes, std::size_t lines) : lines_(lines), paths_(nodes), busy_since_(nodes * lines) {}

  const CriticalPath& of(std::size_t node) const { return paths_[node]; }
  void computed(std::size_t node, double seconds) { paths_[node].computing += seconds; }

  /// Records that the node begins a collective at `date` on an idle line.
  void line_begins(std::size_t node, std::size_t line, double date) {
    busy_since_[node * lines_ + line] = {date, paths_[node]};
  }
  /// Records that the node waited from `begin` to `end` for a collective in which it only receives.
  void received(std::size_t node, double begin, double end, double for_others) {
    paths_[node].network += end - begin - for_others;
    paths_[node].for_others += for_others;
  }
  /// Records that the node waited until `end` for a collective on one of its lines.
  void waited(std::size_t node, std::size_t line, double end, double for_others) {
    const PathStretch& stretch = busy_since_[node * lines_ + line];
    paths_[node] = stretch.path;
    received(node, stretch.begin, end, for_others);
  }

 private:
  /// A period in which a line is busy: its beginning, and the node's path up to it.
  struct PathStretch {
    double begin = 0;
    CriticalPath path;
  };

  std::size_t lines_;
  std::vector<CriticalPath> paths_;
  std::vector<PathStretch> busy_since_;
};

/// Returns the critical path of the worker that ends last, longest part first. The network's part is divided in
/// proportion to the collectives' seconds by cause (`spent`). Waits of a replica's devices for each other's
/// computations count as computing of other devices, because they are part of the design.
std::vector<step::Bound> bounds_of(const CriticalPath& path, const std::string& host, const std::string& device,
                                   const SpentSeconds& spent, double step_seconds) {
  std::vector<step::Bound> bounds;
  const auto add = [&](const std::string& resource, const std::string& kind, double seconds,
                       const std::string& computer = {}) {
    if (seconds > 0) bounds.push_back({resource, kind, seconds, seconds / step_seconds, computer});
  };
  add(host, "compute", path.computing, device);
  add("other devices", "compute", path.for_others);
  double whole = 0;
  for (const auto& [what, seconds] : spent) whole += seconds;
  for (const auto& [what, seconds] : spent) {
    if (whole > 0) add(what.second, what.first, path.network * seconds / whole);
  }
  std::ranges::stable_sort(bounds, std::greater(), &step::Bound::seconds);
  return bounds;
}

/// Dates of a collective for its participants: first the nodes that issue the collective, then those that only receive.
/// Equal dates are stored as one value.
struct CollectiveDates {
  std::vector<double> done;
  std::vector<double> issued;  ///< date of the last issue among the nodes that send data to a node
  std::size_t last_wait = 0;   ///< last task that waits for the collective; 0: none

  static double of(const std::vector<double>& dates, std::size_t slot) {
    return dates.size() == 1 ? dates[0] : dates[slot];
  }

  /// Replaces equal dates by one value, once all are known.
  void shorten() {
    for (std::vector<double>* dates : {&done, &issued}) {
      if (std::ranges::adjacent_find(*dates, std::not_equal_to()) != dates->end()) continue;
      dates->resize(1);
      dates->shrink_to_fit();
    }
  }
};

/// Traffic of a step's collectives so far.
class CarriedTraffic {
 public:
  explicit CarriedTraffic(std::size_t nodes) : sent_(nodes), received_(nodes) {}

  /// Adds traffic over links.
  void add_to_links(const FlowTraffic& traffic, double times) {
    for (const auto& [link, load] : traffic.loads) {
      const auto index = static_cast<std::size_t>(link);
      if (index >= loads_.size()) loads_.resize(index + 1);
      loads_[index].payload += times * load.payload;
      loads_[index].wire += times * load.wire;
    }
  }
  /// Adds traffic from and to nodes.
  void add_to_nodes(const FlowPart& part, double times) {
    const FlowTraffic& traffic = *part.traffic;
    for (std::size_t rank = 0; rank < traffic.sent.size(); ++rank) {
      sent_[part.nodes[rank]] += times * traffic.sent[rank];
      received_[part.nodes[rank]] += times * traffic.received[rank];
    }
  }

  std::vector<LinkLoad> take_loads() { return std::move(loads_); }
  void put_into(step::StepTiming& timing) const {
    timing.bytes_sent = sent_;
    timing.bytes_received = received_;
  }

 private:
  std::vector<double> sent_, received_;  ///< bytes, per node
  std::vector<LinkLoad> loads_;          ///< loads by link of the network; links after the end carried nothing
};

/// Sum of the time by which large collectives may begin apart and still be timed as begun together, as a share of the
/// step so far. They then begin with the last rank: no message leaves too early, and none is late by more than this
/// time.
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
        seconds_(seconds_of(request)),
        collectives_(request.collectives),
        framework_(nodes_, parts_, collectives_, network_, request.without == Without::framework),
        overlaps_(request.overlaps),
        streams_(parts_.nodes()),
        host_links_(parts_.nodes()),
        beside_(nodes_, parts_, schedule_.precision),
        free_(parts_.nodes() * parts_.lines()),
        number_(schedule_.tasks.size()),
        carried_(parts_.nodes()),
        doubts_(schedule_.pipeline) {
    for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
      if (const auto* wait = std::get_if<schedule::WaitTask>(&schedule_.tasks[i].what)) {
        progress(static_cast<std::size_t>(wait->collective)).last_wait = i;
      } else if (std::holds_alternative<schedule::CollectiveTask>(schedule_.tasks[i].what)) {
        number_[i] = static_cast<std::uint32_t>(progress_.size());
        progress_.emplace_back();
      }
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
        const Parts::RankRange nodes = parts_.with(wait.who, task.stage);
        for (std::size_t node = nodes.first; node < nodes.behind; ++node) wait_for(i, awaited, node);
        if (progress(awaited).last_wait == i) progress(awaited) = {};
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
  /// Returns the seconds of computations, which are the same in all timings of a request.
  static NodeSeconds& seconds_of(const FlowStepRequest& request) {
    if (request.seconds == nullptr)
      request.seconds = std::make_shared<NodeSeconds>(request.nodes, request.parts, request.schedule, request.slowdown);
    return *request.seconds;
  }

  void execute(std::size_t index, const schedule::ComputeTask& task) {
    const Parts::RankRange nodes = parts_.with(task.who, schedule_.tasks[index].stage);
    for (std::size_t node = nodes.first; node < nodes.behind; ++node) {
      double seconds = seconds_.of(node, index, task);
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
    const double end = CollectiveDates::of(progress(awaited).done, slot);
    if (end <= begin) return;
    stream.end = end;
    if (recorder_ != nullptr) recorder_->waited(node, index, begin, end);
    const bool gets = parts_.gets_something(task, node);
    double for_others = gets ? waiting_for_others(begin, end, CollectiveDates::of(progress(awaited).issued, slot)) : 0;
    stream.waiting += for_others;
    if (single()) for_others = 0;
    if (parts_.issuers(task).holds(node)) {
      paths_.waited(node, Parts::line_of(task), end, for_others);
    } else {
      paths_.received(node, begin, end, for_others);
    }
  }

  std::size_t slot_of(const schedule::Task& task, std::size_t node) const {
    const Parts::RankRange issuers = parts_.issuers(task);
    return issuers.holds(node) ? node - issuers.first : issuers.size() + node - parts_.receivers(task).first;
  }

  Refused communicate(std::size_t index) {
    const schedule::Task& task = schedule_.tasks[index];
    const std::size_t slots = parts_.issuers(task).size() + parts_.receivers(task).size();
    CollectiveDates& dates = progress(index);
    const bool awaited = dates.last_wait > 0;
    if (awaited) dates.done = dates.issued = std::vector<double>(slots);
    doubts_.next();
    for (FlowPart& part : collectives_.of(task)) {
      if (Refused refused = communicate(index, part)) return refused;
      if (Refused refused = doubts_.judge_early(seconds_.of_step(), dates_)) return refused;
    }
    if (awaited) dates.shorten();
    return {};
  }

  Refused communicate(std::size_t index, FlowPart& part) {
    const schedule::Task& task = schedule_.tasks[index];
    const std::size_t ranks = part.nodes.size();
    const Parts::RankRange receivers = parts_.receivers(task);
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
    if (!even && !part.stages.empty()) {  // stages begin at different dates by design; each then uses the network alone
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
      if (Refused refused = unequal ? collectives_.solve(part, seconds_.are_unequal()) : Refused()) return refused;
      const bool known = unequal && part.solved->is_known();
      const bool late = known && late_ranks_ != LateRanks::followed;
      if (!even && !known && !by_closed_form_) doubts_.apart(stage_of(part), task, latest - earliest);
      if (late) {
        if (Refused refused = enter_late(part, earliest, latest)) return refused;
      } else if (even) {
        FlowOutcome outcome;
        if (Refused refused = collectives_.carry_out(part, dates, earliest, latest, outcome)) return refused;
        part.together = std::make_unique<const FlowOutcome>(std::move(outcome));
        beside_others(part, earliest);
      } else {
        const FlowOutcome* outcome = nullptr;
        begun_ = dates;
        if (Refused refused = collectives_.carry_out_apart(part, dates, earliest, latest, outcome, known))
          return refused;
        if (known) doubts_.followed(stage_of(part), task, earliest, dates, *part.solved);
        groups_beside_others(part);
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

  /// Lets ranks enter a collective at different dates, and share links as if all had begun together.
  Refused enter_late(FlowPart& part, double earliest, double latest) {
    begun_ = dates_;
    if (Refused refused = collectives_.enter(part, dates_)) return refused;
    const double wrong_by = part.solved->doubt(latest - earliest);
    doubts_.entered_late(stage_of(part), wrong_by);
    messages_ += part.solved->carried();
    if (late_ranks_ != LateRanks::enter) {
      const double more = late_ranks_ == LateRanks::later ? wrong_by : -wrong_by;
      for (std::size_t rank = 0; rank < dates_.size(); ++rank) {
        dates_[rank] = std::max(begun_[rank], dates_[rank] + more);
      }
    }
    groups_beside_others(part);
    carried_.add_to_nodes(part, 1);
    for (const auto& [what, seconds] : part.together->spent) (single() ? spent_ : part.spent)[what] += seconds;
    carried_.add_to_links(*part.traffic, 1);
    return {};
  }

  /// Lengthens a collective that all ranks enter at `begin`, by the delays on links that it shares with others.
  void beside_others(FlowPart& part, double begin) {
    const double seconds = *std::ranges::max_element(dates_) - begin;
    const double longer = longer_beside_others(part, begin, seconds);
    if (longer == 1) return;
    for (double& date : dates_) {
      if (date > begin) date = begin + (date - begin) * longer;
    }
  }

  /// Lengthens a collective that ranks enter at the dates `begun_`, by the delays on links that it shares with others.
  /// A group begins with its last rank. Waits for ranks, and the time between groups, are not lengthened, since they
  /// would then grow from collective to collective.
  void groups_beside_others(FlowPart& part) {
    group_begins_.clear();
    double seconds = 0;
    for (std::size_t group = 0, first = 0; group < part.ends.size(); first = part.ends[group++]) {
      const auto size = static_cast<std::ptrdiff_t>(part.ends[group] - first);
      const auto at = static_cast<std::ptrdiff_t>(first);
      const double begin = *std::max_element(begun_.begin() + at, begun_.begin() + at + size);
      seconds = std::max(seconds, *std::max_element(dates_.begin() + at, dates_.begin() + at + size) - begin);
      group_begins_.push_back(begin);
    }
    const double longer = longer_beside_others(part, std::ranges::min(group_begins_), seconds);
    if (longer == 1) return;
    for (std::size_t group = 0, rank = 0; group < part.ends.size(); ++group) {
      for (const double begin = group_begins_[group]; rank < part.ends[group]; ++rank) {
        if (dates_[rank] > begin) dates_[rank] = begin + (dates_[rank] - begin) * longer;
      }
    }
  }

  /// Returns the factor (at least 1) by which sharing links lengthens a collective that takes `seconds` alone.
  double longer_beside_others(FlowPart& part, double begin, double seconds) {
    if (single() || by_closed_form_ || part.traffic->loads.empty() || !(seconds > 0)) return 1;
    if (!part.number)
      part.number =
          overlaps_.add(part.traffic->loads, seconds, collectives_.messages_on(part), part.rounds->pace().in_flight);
    const FlowOverlaps::Occurrence occurrence = overlaps_.occur(*part.number, begin, seconds);
    doubts_.overlooked(stage_of(part), occurrence.overlooked);
    return std::max(1.0, occurrence.seconds / seconds);
  }

  CollectiveDates& progress(std::size_t task) { return progress_[number_[task]]; }
  std::size_t stage_of(const FlowPart& part) const {
    return part.nodes.front() / (parts_.workers() / static_cast<std::size_t>(schedule_.pipeline));
  }

  bool single() const { return parts_.single_devices(); }
  double& free_at(const schedule::Task& task, std::size_t node) {
    return free_[node * parts_.lines() + Parts::line_of(task)];
  }

  /// Records the date at which a rank's last sender issued the collective. Its senders are its group, or its
  /// neighbours.
  void issue(std::size_t index, const FlowPart& part) {
    if (progress(index).last_wait == 0) return;
    const schedule::Task& task = schedule_.tasks[index];
    const Parts::RankRange issuers = parts_.issuers(task);
    const step::Neighbours* neighbours = std::get<schedule::CollectiveTask>(task.what).neighbours.get();
    std::vector<double>& issued = progress(index).issued;
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

  /// Ends a collective; `dates_` has the ends of its messages.
  void finish(std::size_t index, FlowPart& part) {
    framework_.add(part, dates_, single() ? spent_ : part.spent);
    const schedule::Task& task = schedule_.tasks[index];
    const auto& collective = std::get<schedule::CollectiveTask>(task.what);
    const step::CollectiveKind kind = collective.kind;
    CollectiveDates& own = progress(index);
    const Parts::RankRange receivers = parts_.receivers(task);
    const bool sends_ahead = kind == step::CollectiveKind::gather || kind == step::CollectiveKind::stage_send;
    for (std::size_t group = 0, first = 0; group < part.ends.size(); first = part.ends[group++]) {
      double through = 0;
      for (std::size_t rank = first; rank < part.ends[group]; ++rank) through = std::max(through, dates_[rank]);
      for (std::size_t rank = first; rank < part.ends[group]; ++rank) {
        const std::size_t node = part.nodes[rank];
        if (own.last_wait > 0) own.done[slot_of(task, node)] = dates_[rank];
        const bool receives = receivers.holds(node);
        if (!receives) {
          // Frees a sender once its messages have left, because messages of a pair keep their order.
          const std::size_t to = part.ends[group] - 1;
          const double bytes = kind == step::CollectiveKind::stage_send ? collective.bytes[parts_.entry(node)] : 1;
          const double free = sends_ahead ? through - collectives_.latency(part, rank, to, bytes) : dates_[rank];
          free_at(task, node) = std::max(free_at(task, node), free);
        }
        // Waits, at a node that only sends, until its messages have arrived.
        if (recorder_ == nullptr) continue;
        recorder_->communicated(node, index, begins_[rank], is_one_way(kind) && !receives ? through : dates_[rank],
                                receives);
      }
    }
  }

  /// Adds the traffic of repeated collectives, for all occurrences at once, and the network seconds of those in which
  /// the last worker takes part.
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
  NodeSeconds& seconds_;
  FlowCollectives& collectives_;
  FlowFramework framework_;
  std::optional<FollowedStep> followed_;  ///< computes the ends of collectives; none: not used
  FlowOverlaps& overlaps_;
  std::vector<StreamTime> streams_;  ///< compute stream of each node
  std::vector<HostLink> host_links_;
  BesideCommunication beside_;
  std::vector<double> free_;                    ///< date at which the next collective may begin to send, per node and
                                                ///< line
  std::vector<double> dates_, begins_, begun_;  ///< dates of the current collective, per rank
  std::vector<double> group_begins_;            ///< dates at which all ranks of a group have begun
  std::vector<CollectiveDates> progress_;       ///< dates of each collective, while nodes wait for it
  std::vector<std::uint32_t> number_;           ///< number of each task's collective
  std::vector<const FlowPart*> together_;       ///< parts with a known outcome, in the order of first use
  CarriedTraffic carried_;
  SpentSeconds spent_;
  FlowDoubts doubts_;
  double taken_together_ = 0;  ///< seconds between the first and the last rank, summed over collectives timed as begun
                               ///< together
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
