#include "sim/child/timing_child.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "collectives/rounds.hpp"
#include "collectives/traffic.hpp"
#include "sim/child/loaded_cluster.hpp"
#include "sim/child/timing_messages.hpp"
#include "sim/flow/flow.hpp"
#include "sim/flow/flow_refusal.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/network/network_use.hpp"
#include "sim/network/rank_layout.hpp"
#include "sim/process/clock.hpp"
#include "sim/step/best_collective.hpp"
#include "sim/step/closed_form.hpp"
#include "sim/step/collective_choice.hpp"
#include "sim/step/fidelity.hpp"
#include "sim/step/framework_costs.hpp"
#include "sim/step/jitter.hpp"
#include "sim/step/message_effort.hpp"
#include "sim/step/nodes.hpp"
#include "sim/step/replay.hpp"
#include "sim/step/steady_state.hpp"
#include "sim/step/step_without.hpp"
#include "sim/step/steps_by_flow.hpp"
#include "sim/step/timeline_recorder.hpp"
#include "step/timing_bytes.hpp"

namespace dadsim::sim {
namespace {

/// Computes `seconds` of one collective that all ranks begin together, by flows or by its closed form. `loads`: per
/// link of the network, only by flows.
[[nodiscard]] Refused collective_by_flow(const Nodes& nodes, const collectives::Rounds& rounds, Interconnect& network,
                                         bool closed_form, double& seconds, std::vector<LinkLoad>& loads);

Refused collective_by_flow(const Nodes& nodes, const collectives::Rounds& rounds, Interconnect& network,
                           bool by_closed_form, double& seconds, std::vector<LinkLoad>& loads) {
  if (by_closed_form) {
    seconds = closed_form_of(nodes.hosts, rounds, network);
    return {};
  }
  std::vector<double> dates(static_cast<std::size_t>(rounds.ranks()), 0);
  FlowModel model(network, nodes.hosts);
  if (Refused refused = model.run(rounds, dates)) return refused;
  seconds = *std::ranges::max_element(dates);
  loads = model.loads();
  return {};
}

/// Times steps by flow on a network whose links may change at known dates. Between two changes the network is steady,
/// and a step is timed as on a constant network. A step during several states takes a share of each state's time,
/// according to its progress. Its time then lies between those of the quickest and the slowest state.
class FlowThroughChanges {
 public:
  FlowThroughChanges(const Cluster& cluster, LoadedCluster& loaded, bool closed_form);

  /// Times a step that begins at `date`, seconds, like StepsByFlow::time. Loads refer to links of the loaded network.
  [[nodiscard]] Refused time(double date, const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                             const std::vector<double>& slowdown, FlowStep& result, TimelineRecorder* recorder);

  /// Returns the seconds of the step timed last without each of its causes (StepsByFlow::without).
  SecondsWithout without(const std::vector<double>& slowdown) { return last_->steps->without(slowdown); }

 private:
  struct Steady {
    std::unique_ptr<Interconnect> network;  ///< network of the steady state; null: the loaded network
    std::unique_ptr<StepsByFlow> steps;
    const schedule::Schedule* schedule = nullptr;  ///< schedule of `last`; set only if steps do not jitter
    FlowStep last;
  };
  Steady& steady_at(double date);
  Refused time_in(Steady& steady, const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                  const std::vector<double>& slowdown, TimelineRecorder* recorder);
  void add(const FlowStep& step, const Steady& steady, double share, FlowStep& sum);

  LoadedCluster& loaded_;
  bool closed_form_, quick_;
  std::map<SteadyStates::State, Steady> known_;
  Steady* last_ = nullptr;
};

constexpr std::size_t kMostKept = 8;  // largest number of steady states whose flows are kept; each may take a gigabyte

void add_to(std::vector<double>& sum, const std::vector<double>& more, double share) {
  sum.resize(std::max(sum.size(), more.size()), 0);
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += share * more[i];
}

FlowThroughChanges::FlowThroughChanges(const Cluster& cluster, LoadedCluster& loaded, bool closed_form)
    : loaded_(loaded), closed_form_(closed_form), quick_(cluster.flow_alone) {}

FlowThroughChanges::Steady& FlowThroughChanges::steady_at(double date) {
  const SteadyStates::State state = loaded_.states.at(date);
  if (const auto found = known_.find(state); found != known_.end()) return found->second;
  if (known_.size() == kMostKept) known_.erase(known_.begin());
  Steady& made = known_[state];
  if (!loaded_.states.empty()) {
    std::vector<Interconnect::Fixed> fixed;
    for (const SteadyStates::ProfileNumbers& one : loaded_.states.numbers(state))
      fixed.push_back({one.link, one.bandwidth, one.latency});
    made.network = std::make_unique<Interconnect>(*loaded_.network, fixed);
  }
  Interconnect& network = made.network ? *made.network : *loaded_.network;
  made.steps = std::make_unique<StepsByFlow>(loaded_.nodes, network, closed_form_, quick_);
  return made;
}

Refused FlowThroughChanges::time_in(Steady& steady, const collectives::RankLayout& layout,
                                    const schedule::Schedule& schedule, const std::vector<double>& slowdown,
                                    TimelineRecorder* recorder) {
  const bool again = steady.schedule != nullptr && slowdown.empty() && recorder == nullptr &&
                     (steady.schedule == &schedule || *steady.schedule == schedule);
  if (again) return {};
  steady.schedule = nullptr;
  if (Refused refused = steady.steps->time(layout, schedule, slowdown, steady.last, recorder)) return refused;
  if (slowdown.empty()) steady.schedule = &schedule;
  return {};
}

void FlowThroughChanges::add(const FlowStep& step, const Steady& steady, double share, FlowStep& sum) {
  step::StepTiming& all = sum.timing;
  const step::StepTiming& one = step.timing;
  all.seconds += share * one.seconds;
  all.compute_seconds += share * one.compute_seconds;
  all.exposed_seconds += share * one.exposed_seconds;
  all.compression_seconds += share * one.compression_seconds;
  all.waiting_seconds += share * one.waiting_seconds;
  add_to(all.bytes_sent, one.bytes_sent, share);
  add_to(all.bytes_received, one.bytes_received, share);
  add_to(all.busy_seconds, one.busy_seconds, share);
  for (const step::Bound& bound : one.bounds) {
    const auto known = std::ranges::find_if(all.bounds, [&](const step::Bound& other) {
      return other.resource == bound.resource && other.kind == bound.kind;
    });
    if (known != all.bounds.end()) {
      known->seconds += share * bound.seconds;
    } else {
      all.bounds.emplace_back(bound).seconds *= share;
    }
  }
  sum.overlooked += share * step.overlooked;
  sum.wrong_by += share * step.wrong_by;
  sum.shared_wrong_by += share * step.shared_wrong_by;
  for (std::size_t i = 0; i < step.loads.size(); ++i) {
    const auto link = static_cast<std::size_t>(loaded_.network->index_of(steady.network->links()[i].link));
    if (link >= sum.loads.size()) sum.loads.resize(link + 1);
    sum.loads[link].payload += share * step.loads[i].payload;
    sum.loads[link].wire += share * step.loads[i].wire;
  }
}

Refused FlowThroughChanges::time(double date, const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                                 const std::vector<double>& slowdown, FlowStep& result, TimelineRecorder* recorder) {
  double left = 1, least = 0, most = 0;
  for (double now = date; left > 0;) {
    Steady& steady = steady_at(now);
    last_ = &steady;
    if (Refused refused = time_in(steady, layout, schedule, slowdown, now == date ? recorder : nullptr)) return refused;
    const FlowStep& step = steady.last;
    if (loaded_.states.empty()) {
      result = step;
      return {};
    }
    const double seconds = step.timing.seconds, until = loaded_.states.next(now);
    const double share = seconds > 0 ? std::min(left, (until - now) / seconds) : left;
    add(step, steady, share, result);
    least = now == date ? seconds : std::min(least, seconds);
    most = std::max(most, seconds);
    left = share < left ? left - share : 0;
    now = until;
  }
  std::ranges::sort(result.timing.bounds, std::ranges::greater{}, &step::Bound::seconds);
  for (step::Bound& bound : result.timing.bounds) bound.share = bound.seconds / result.timing.seconds;
  result.across_changes = std::max(most - result.timing.seconds, result.timing.seconds - least);
  return {};
}

// Processor seconds above which a run is not simulated message by message unless a scenario asks for it. Over TCP, flow
// misses effects that messages show, so that 20 s are allowed. This is enough for the default budget of 2 million
// messages on up to some 300 ranks. On other links flow and messages agree. A single collective has the same fidelity,
// whichever other sizes are timed with it.
constexpr double kMostSecondsOfRun = 20;
constexpr double kMostSecondsWithoutTcp = 1;
constexpr double kMostSecondsOfCollective = 0.1;

constexpr const char* kShared = "concurrent collectives share links";
constexpr std::size_t kStepsTraced =
    4;  // steps in the timeline of a run without a barrier, which shows how they drift apart
constexpr std::size_t kMostStreams = 4096;  // largest number of actors, ranks × steps, that time steps without their
                                            // causes
constexpr std::size_t kRanksTimedAgain =
    256;  // ranks above which steps without a cause reuse results of the run's flow
constexpr double kMessagesTimedAgain =
    2e5;  // largest number of messages simulated if flow refuses or doubts a step without a cause; one or two seconds
constexpr std::size_t kStepsTogether = 64;  // largest number of steps replayed together if all steps differ; fewer
                                            // before a barrier

/// Times the schedules of a run, in the driver's actor.
class RunOfSchedules {
 public:
  RunOfSchedules(const TimingJob& job, LoadedCluster& loaded, const MessageSink& sink)
      : job_(job),
        loaded_(loaded),
        sink_(sink),
        layout_(layout_of_workers()),
        choices_(layout_, use_, loaded.nodes.hosts, loaded.network.get(), job.cluster.framework.all_reduce),
        messages_(settle()),
        fidelity_(
            job.cluster, messages_, [this] { return effort_of_run(); }, most_seconds()),
        jitter_(job.cluster.network.jitter, job.cluster.seed, loaded.nodes.hosts.size(), job.cluster.numbers,
                job.request.first_step) {}

  void time() {
    start_background(job_.cluster.platform, *loaded_.engine, job_.request.begins_at);
    if (job_.request.begins_at > 0) simgrid::s4u::this_actor::sleep_until(job_.request.begins_at);
    if (!fidelity_.by_flow() || !by_flow()) by_messages();
    describe_links(*loaded_.network, use_);
    link_use_.describe(*loaded_.network, use_);
    use_.messages = static_cast<double>(loaded_.connections->messages());
    choices_.note_quicker();  // called after all steps, because it examines algorithms that the run does not use
    if (fidelity_.by_flow() != looks_in_place()) look_into_causes();
    WireWriter message = about(TimingTopic::network);
    message << use_ << without_;
    sink_.send(message.bytes());
  }

 private:
  collectives::RankLayout layout_of_workers() const {
    const auto& hosts = loaded_.nodes.hosts;
    const std::vector<simgrid::s4u::Host*> workers(hosts.begin(),
                                                   hosts.begin() + static_cast<std::ptrdiff_t>(loaded_.nodes.workers));
    return workers_meet(job_.schedules, job_.kinds)
               ? rank_layout(workers, *loaded_.network, std::span(loaded_.nodes.devices).first(workers.size()))
               : ranks_apart(workers.size());
  }

  /// Chooses how the run's collectives are carried out, also for schedules whose traffic alone is needed. Returns the
  /// number of messages of the run.
  double settle() {
    double messages = 0;
    for (std::size_t i = 0; i < wanted().size(); ++i) {
      const double own = choices_.settle(settled_.emplace_back(job_.schedules[wanted()[i].schedule]));
      if (i >= job_.plan.of_run()) continue;  // excludes schedules that only get a timeline
      messages += own * times_of(settled_.back());
    }
    for (const std::size_t i : job_.plan.others()) {
      const schedule::StepKinds::Kind& kind = job_.kinds->kinds()[i];
      choices_.note(kind);
      if (kind.elsewhere.empty()) continue;
      WireWriter message = about(TimingTopic::traffic);
      const schedule::Traffic traffic = choices_.traffic_elsewhere(kind, job_.schedules[kind.first]);
      message << std::uint64_t{i} << traffic.sent << traffic.received;
      sink_.post(message.bytes());
    }
    return messages;
  }

  /// Returns the number of times that a schedule is simulated.
  double times_of(const schedule::Schedule& schedule) const {
    const bool alone = has_barrier(schedule) || every_step_differs(job_.cluster);
    return alone ? 1 : static_cast<double>(most_steps(schedule.workers));
  }

  /// Returns the processor seconds allowed for messages: more with TCP, timelines or replicas of several devices, where
  /// messages show waits that flow misses.
  double most_seconds() const {
    const bool single = std::ranges::all_of(
        settled_, [](const schedule::Schedule& schedule) { return schedule.tensor * schedule.pipeline == 1; });
    const bool traced = job_.request.trace_first || std::ranges::any_of(wanted(), &StepSelection::Simulated::trace);
    return single && !traced && !loaded_.has_tcp() ? kMostSecondsWithoutTcp : kMostSecondsOfRun;
  }

  MessageEffort effort_of_run() const {
    const auto of_run = std::span(settled_).first(std::min(settled_.size(), job_.plan.of_run()));
    std::vector<double> times;
    for (const schedule::Schedule& schedule : of_run) times.push_back(times_of(schedule));
    return effort_of(of_run, times, layout_);
  }

  /// Refuses a step if the uncertainty of its time by flow exceeds what the fidelity allows.
  Refused in_doubt(const FlowStep& step) {
    const double seconds = step.timing.seconds;
    constexpr const char* kMayBe = "{}, for up to {:.2g} % of the step";
    if (!fidelity_.may_overlook(step.overlooked / seconds))
      return FlowRefusal{fmt::format("{} ({:.3g} s of a step of {:.3g} s)", kShared, step.overlooked, seconds)};
    if (!fidelity_.may_share_links(step.shared_wrong_by / seconds))
      return FlowRefusal{fmt::format(kMayBe, kShared, 100 * step.shared_wrong_by / seconds)};
    if (!fidelity_.may_enter_late(step.wrong_by / seconds))
      return FlowRefusal{
          fmt::format(kMayBe, "ranks enter collectives late and share their links", 100 * step.wrong_by / seconds)};
    return {};
  }

  /// Times the run by flow. Returns false, before anything is reported, if flow is refused.
  bool by_flow() {
    std::vector<std::unique_ptr<TimelineRecorder>> recorders(settled_.size());
    std::vector<step::StepTiming> timings;
    const Interconnect before = *loaded_.network;  // state to restore if flow is refused
    FlowThroughChanges steps(job_.cluster, loaded_, fidelity_.closed_form());
    double date = job_.request.begins_at, across = 0;  // seconds; `across`: sum over steps of the uncertainty from
                                                       // changes of links
    for (std::size_t i = 0; i < settled_.size(); ++i) {
      Refused refused = FlowRefusal{"there is no barrier between steps"};
      FlowStep step;
      if (has_barrier(settled_[i])) {
        if (wanted()[i].trace || (i == 0 && job_.request.trace_first)) recorders[i] = recorder_of(i, 0);
        refused = steps.time(date, ranks(i), settled_[i], jitter_.of_step(i), step, recorders[i].get());
        date += step.timing.seconds;
        across += step.across_changes;
      }
      if (!refused) refused = in_doubt(step);
      const double share = across / (date - job_.request.begins_at);
      if (!refused && i + 1 == settled_.size() && !fidelity_.may_change(share))
        refused = FlowRefusal{fmt::format("links change during up to {:.2g} % of the steps", 100 * share)};
      if (refused) {
        fidelity_.refuse(refused->fault, has_barrier(settled_[i]));
        link_use_ = {};
        without_.clear();
        loaded_.network->take_back(before);
        return false;
      }
      if (looks_in_place() && is_looked_into(i)) without_.push_back({i, steps.without(jitter_.of_step(i))});
      link_use_.add(step.loads, step.timing.seconds, wanted()[i].times);
      timings.push_back(std::move(step.timing));
    }
    fidelity_.timed_by_flow();
    fidelity_.describe(use_);
    for (std::size_t i = 0; i < timings.size(); ++i) {
      if (recorders[i]) send_timeline(TimingTopic::timeline, *recorders[i]);
      post(TimingTopic::timing, timings[i]);
    }
    return true;
  }

  void by_messages() {
    fidelity_.describe(use_);
    if (!looks_in_place()) look_into_causes();
    StepReplayer replayer(loaded_.nodes, *loaded_.network, *loaded_.connections);
    for (std::size_t i = 0; i < settled_.size(); ++i) {
      if (!has_barrier(settled_[i])) {
        i = without_barrier(replayer, i);
        continue;
      }
      const bool trace_first = i == 0 && job_.request.trace_first;
      std::unique_ptr<TimelineRecorder> recorder;
      step::StepTiming timing = replay(replayer, i, wanted()[i].trace || trace_first, recorder);
      double left = wanted()[i].times;
      // With TCP, simulates the first schedule twice: its first messages open the connections, and the time of a step
      // is that on open connections.
      if (i == 0 && !every_step_differs(job_.cluster) && loaded_.has_tcp()) {
        if (trace_first) send_timeline(TimingTopic::first_timeline, *recorder);
        post(TimingTopic::first, timing);
        link_use_.add(loaded_.network->take_loads(), timing.seconds, std::min(1.0, left));
        left -= std::min(1.0, left);
        timing = replay(replayer, i, wanted()[i].trace, recorder);
      }
      if (recorder) send_timeline(TimingTopic::timeline, *recorder);
      link_use_.add(loaded_.network->take_loads(), timing.seconds, left);
      post(TimingTopic::timing, timing);
    }
  }

  /// Simulates steps without a barrier between them, from schedule number `i` on. Returns the number of the last
  /// schedule that was simulated.
  std::size_t without_barrier(StepReplayer& replayer, std::size_t i) {
    if (every_step_differs(job_.cluster)) return one_after_the_other(replayer, i);
    const SteadyState state =
        until_settled(replayer, ranks(i), settled_[i], *loaded_.connections, i == 0 && loaded_.has_tcp());
    if (i == 0) send_first_steps(*state.run);
    const step::StepTiming timing = state.timing();
    link_use_.add(take_mean_loads(state.steps), timing.seconds, wanted()[i].times);
    if (wanted()[i].trace || (i == 0 && job_.request.trace_first)) trace_first_steps(replayer, i);
    post(TimingTopic::timing, timing);
    return i;
  }

  /// Replays steps together without barriers, from number `i` on, for runs whose steps all differ. Returns the number
  /// of the last step.
  std::size_t one_after_the_other(StepReplayer& replayer, std::size_t i) {
    std::vector<ReplayStep> steps;
    for (std::size_t k = i; k < settled_.size() && steps.size() < kStepsTogether; ++k) {
      if (has_barrier(settled_[k]) || settled_[k].workers != settled_[i].workers) break;
      steps.push_back({&settled_[k], jitter_.of_step(k)});
    }
    const std::unique_ptr<StepRun> run = replayer.replay(ranks(i), steps);
    if (i == 0) send_first_steps(*run);
    const auto count = static_cast<double>(steps.size());
    link_use_.add(take_mean_loads(steps.size()), run->timing(0, steps.size()).seconds, count);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (wanted()[i + k].trace || (i + k == 0 && job_.request.trace_first)) trace_first_steps(replayer, i + k);
      post(TimingTopic::timing, run->timing(k, k + 1));
    }
    return i + steps.size() - 1;
  }

  /// Sends a timeline of several first steps, during which nodes get out of step.
  void trace_first_steps(StepReplayer& replayer, std::size_t i) {
    const schedule::Schedule several = repeated(settled_[i], kStepsTraced);
    TimelineRecorder recorder(loaded_.nodes, several, now(), job_.request.most_spans);
    loaded_.network->trace(&recorder.links());
    const std::vector<ReplayStep> steps(kStepsTraced, {&settled_[i], jitter_.of_step(i)});
    replayer.replay(ranks(i), steps, &recorder);
    loaded_.network->trace(nullptr);
    loaded_.network->take_loads();  // drops the loads, because a timeline is not part of the run
    send_timeline(TimingTopic::timeline, recorder);
  }

  /// Takes the loads of links during `steps` steps. Returns their mean per step.
  std::vector<LinkLoad> take_mean_loads(std::size_t steps) {
    std::vector<LinkLoad> loads = loaded_.network->take_loads();
    for (LinkLoad& load : loads) {
      load.payload /= static_cast<double>(steps);
      load.wire /= static_cast<double>(steps);
    }
    return loads;
  }

  void send_first_steps(const StepRun& run) const {
    WireWriter message = about(TimingTopic::first_steps);
    message << run.ends();
    sink_.send(message.bytes());
  }

  step::StepTiming replay(StepReplayer& replayer, std::size_t i, bool trace,
                          std::unique_ptr<TimelineRecorder>& recorder) {
    recorder.reset();
    if (trace) {
      recorder = recorder_of(i, simgrid::s4u::Engine::get_clock());
      loaded_.network->trace(&recorder->links());
    }
    step::StepTiming timing = replayer.replay(ranks(i), settled_[i], jitter_.of_step(i), recorder.get());
    loaded_.network->trace(nullptr);
    return timing;
  }

  std::unique_ptr<TimelineRecorder> recorder_of(std::size_t i, double begin) const {
    return std::make_unique<TimelineRecorder>(loaded_.nodes, settled_[i], begin, job_.request.most_spans);
  }

  /// Returns whether causes are removed while the run is timed: simulating the step again would give another result, or
  /// take as long as the run.
  bool looks_in_place() const {
    return network_differs(job_.cluster) || (fidelity_.by_flow() && loaded_.nodes.hosts.size() > kRanksTimedAgain);
  }

  bool is_looked_into(std::size_t i) const { return job_.cluster.causes && job_.plan.is_looked_into(i); }

  void look_into_causes() {
    for (std::size_t i = 0; i < settled_.size(); ++i) {
      const bool fits = fidelity_.by_flow() || without_.size() * loaded_.nodes.hosts.size() < kMostStreams;
      if (is_looked_into(i) && fits) without_.push_back({i});
    }
    if (without_.empty()) return;
    if (looks_in_place()) {
      for (StepWithout& one : without_)
        one.seconds = without_by_closed_form(loaded_.nodes, *loaded_.network, ranks(one.place), settled_[one.place],
                                             jitter_.of_step(one.place), timed_[one.place]);
      return;
    }
    look_into(&SecondsWithout::computing);
    look_into(&SecondsWithout::network);
    if (!job_.cluster.framework.none()) look_into(&SecondsWithout::framework);
  }

  /// Chooses algorithms of collectives again for the links as they are now. If all all-reduces used one algorithm, they
  /// keep it.
  void choose_again() {
    constexpr auto kSum = step::CollectiveKind::all_reduce;
    layout_ = layout_of_workers();
    const bool alike = std::ranges::count(use_.collectives, to_string(kSum), &step::NetworkUse::Collective::kind) == 1;
    step::NetworkUse use;
    CollectiveChoices choices(layout_, use, loaded_.nodes.hosts, loaded_.network.get(),
                              job_.cluster.framework.all_reduce);
    for (const StepWithout& one : without_) {
      schedule::Schedule again = job_.schedules[wanted()[one.place].schedule];
      for (std::size_t i = 0; alike && i < again.tasks.size(); ++i) {
        auto* sum = std::get_if<schedule::CollectiveTask>(&again.tasks[i].what);
        if (sum == nullptr || sum->kind != kSum) continue;
        sum->algorithm = std::get<schedule::CollectiveTask>(settled_[one.place].tasks[i].what).algorithm;
      }
      choices.settle(again);
      settled_[one.place] = std::move(again);
    }
  }

  /// Times steps without one of their causes, in a process whose connections are all new.
  void look_into(std::optional<double> SecondsWithout::*cause) {
    std::size_t known = 0;
    run_in_child(
        [&](const MessageSink& sink) {
          const InstantNodes instant(loaded_.nodes);
          if (cause == &SecondsWithout::computing) loaded_.nodes = instant.nodes;
          if (cause == &SecondsWithout::framework) loaded_.nodes.framework = nullptr;
          if (cause == &SecondsWithout::network) {
            loaded_.lift_limits(job_.cluster);
            choose_again();
          }
          StepsByFlow steps(loaded_.nodes, *loaded_.network, fidelity_.closed_form());
          for (const StepWithout& one : without_) {
            const std::vector<double> slowdown = jitter_.of_step(one.place);
            std::pair<std::optional<double>, std::optional<double>> seconds;  // seconds on warm connections, and on
                                                                              // cold ones
            FlowStep step;
            const bool timed =
                fidelity_.by_flow() && !steps.time(ranks(one.place), settled_[one.place], slowdown, step);
            if (timed) seconds.first = step.timing.seconds;
            const bool doubtful = !timed || in_doubt(step);
            if (!fidelity_.by_flow() || (doubtful && messages_ <= kMessagesTimedAgain)) {
              seconds =
                  seconds_now(loaded_.nodes, *loaded_.connections, ranks(one.place), settled_[one.place], slowdown);
              // If the run is timed by flow, takes the longer of the two times, since flow does not distinguish new
              // connections. Messages are then simulated only if flow refuses or doubts a step without a cause.
              if (fidelity_.by_flow()) seconds.first = std::max(seconds.first, seconds.second);
            }
            WireWriter message;
            message << seconds.first << seconds.second;
            sink.send(message.bytes());
          }
        },
        [&](std::string_view bytes) {
          StepWithout& one = without_.at(known++);
          WireReader(bytes) >> one.seconds.*cause >> one.cold.*cause;
        });
  }

  void post(TimingTopic topic, const step::StepTiming& timing) {
    if (topic == TimingTopic::timing) timed_.push_back(timing.seconds);
    WireWriter message = about(topic);
    message << timing;
    sink_.post(message.bytes());
  }

  void send_timeline(TimingTopic topic, const TimelineRecorder& recorder) const {
    WireWriter message = about(topic);
    message << recorder.timeline(*loaded_.network, use_.fidelity);
    sink_.send(message.bytes());
  }

  collectives::RankLayout ranks(std::size_t i) const { return first_ranks(layout_, settled_[i].workers); }
  const std::vector<StepSelection::Simulated>& wanted() const { return job_.plan.simulated(); }

  const TimingJob& job_;
  LoadedCluster& loaded_;
  const MessageSink& sink_;
  step::NetworkUse use_;
  collectives::RankLayout layout_;  ///< layout of all workers
  CollectiveChoices choices_;
  std::vector<schedule::Schedule> settled_;  ///< schedules of the plan, with their collectives' algorithms chosen
  double messages_;                          ///< number of messages of the run
  FidelityChoice fidelity_;
  Jitter jitter_;
  LinkUseCount link_use_;
  std::vector<double> timed_;         ///< seconds of each timed step of the plan
  std::vector<StepWithout> without_;  ///< steps timed without their causes, in order
};

/// Adds the framework's time before the first and after the last message of a collective that has no server.
void add_framework(const Cluster& cluster, const CollectiveJob& job, const collectives::Rounds& rounds,
                   LoadedCluster& loaded, CollectiveTiming& timing) {
  const std::vector<double>& bytes = job.request.bytes;
  const auto path_rate = [&](std::size_t from, std::size_t to) {
    const auto& hosts = loaded.nodes.hosts;
    return (*loaded.network)[loaded.network->path(hosts[from], hosts[to])].transfer_rate();
  };
  const std::vector<FrameworkCost> costs = framework_costs(
      cluster.framework, rounds, [&](std::size_t rank) { return bytes[std::min(rank, bytes.size() - 1)]; },
      [](std::size_t) { return false; }, path_rate);
  double begin = 0;
  for (const FrameworkCost& cost : costs) begin = std::max(begin, cost.before);
  for (double* seconds : {&timing.seconds, &timing.cold_seconds}) {
    const double through = begin + *seconds;
    *seconds = through;
    for (const FrameworkCost& cost : costs) *seconds = std::max(*seconds, cost.done(begin, through));
  }
}

constexpr double kNotableSaving = 0.1;  // least saving that is reported, as a share of the time of the library's choice

CollectiveTiming time_one(const CollectiveJob& job, const Cluster& cluster, LoadedCluster& loaded,
                          const collectives::RankLayout& layout, step::NetworkUse& use, LinkUseCount& link_use) {
  CollectiveTiming timing;
  timing.algorithm = job.algorithm;
  std::vector<collectives::Rank> all(loaded.nodes.hosts.size());
  std::iota(all.begin(), all.end(), 0);
  const Request request{job.request, job.algorithm, layout, {std::move(all)}};
  if (is_compared(request, loaded.nodes.hosts)) {
    BestCollective best = best_collective({request}, loaded.nodes.hosts, *loaded.network);
    timing.algorithm = std::move(best.algorithm);
    timing.compared = std::move(best.compared);
  } else if (job.algorithm == "auto") {
    timing.algorithm = choose_collective(job.request, layout);
  }
  const std::unique_ptr<collectives::Rounds> rounds = lay_out(job.request, timing.algorithm, layout);
  timing.messages = CollectiveChoices::messages_of(*rounds);
  timing.protocol = to_string(rounds->protocol());
  if (job.traffic) {
    timing.sent.resize(loaded.nodes.hosts.size());
    timing.received.resize(loaded.nodes.hosts.size());
    add_traffic(*rounds, timing.sent, timing.received);
  }
  if (job.algorithm == "auto" && !timing.compared) {
    timing.quicker = quicker_of_library(job.request, timing.algorithm, layout, loaded.nodes.hosts, *loaded.network);
  }
  const auto effort = [&rounds] {
    MessageEffortCount count(static_cast<std::size_t>(rounds->ranks()));
    count.add(*rounds, {}, 1);
    return count.effort();
  };
  FidelityChoice fidelity(cluster, timing.messages, effort, kMostSecondsOfCollective);
  if (fidelity.by_flow()) {
    const Interconnect before = *loaded.network;
    std::vector<LinkLoad> loads;
    Refused refused = FlowRefusal{"the network changes over time"};
    if (loaded.states.empty())
      refused =
          collective_by_flow(loaded.nodes, *rounds, *loaded.network, fidelity.closed_form(), timing.seconds, loads);
    timing.cold_seconds = timing.seconds;
    if (refused) {
      fidelity.refuse(refused->fault, loaded.states.empty());
      loaded.network->take_back(before);
    }
    if (!refused) fidelity.timed_by_flow();
    if (!refused && job.traffic) link_use.add(loads, timing.seconds, 1);
  }
  if (!fidelity.by_flow()) {
    const auto replay_alone = [&](const collectives::Rounds& replayed) {
      loaded.network->take_loads();  // drops the loads of earlier replays
      return replay(loaded.nodes, replayed, *loaded.connections);
    };
    const auto replay_warm = [&](const collectives::Rounds& replayed) {
      loaded.connections->close();
      timing.cold_seconds = replay_alone(replayed);
      return loaded.has_tcp() ? replay_alone(replayed) : timing.cold_seconds;
    };
    if (timing.quicker) {  // algorithm found by flow; timed by message, like the chosen one
      collectives::CollectiveRequest other = job.request;
      other.protocol = spec::parse<collectives::Protocol>(timing.quicker->text("protocol")).value();
      timing.quicker->with("seconds", replay_warm(*lay_out(other, timing.quicker->subject(), layout)));
    }
    timing.seconds = replay_warm(*rounds);
    if (job.traffic) link_use.add(loaded.network->take_loads(), timing.seconds, 1);
    if (timing.quicker) timing.quicker->with("saving", 1 - timing.quicker->number("seconds") / timing.seconds);
    if (timing.quicker && timing.quicker->number("saving") < kNotableSaving) timing.quicker.reset();
  }
  add_framework(cluster, job, *rounds, loaded, timing);
  fidelity.describe(use);
  timing.fidelity = fidelity.chosen();
  return timing;
}

}  // namespace

void simulate(const TimingJob& job, const MessageSink& sink) {
  LoadedCluster loaded(job.cluster, sink);
  loaded.act(sink, [&] { RunOfSchedules(job, loaded, sink).time(); });
}

void simulate_collectives(const Cluster& cluster, std::span<const CollectiveJob> jobs, const MessageSink& sink) {
  LoadedCluster loaded(cluster, sink);
  loaded.act(sink, [&] {
    step::NetworkUse use;
    LinkUseCount link_use;
    const Nodes all = loaded.nodes;
    collectives::RankLayout layout;
    CollectiveChoices choices(layout, use);
    start_background(cluster.platform, *loaded.engine);
    const CollectiveJob* before = nullptr;
    for (const CollectiveJob& job : jobs) {
      if (before == nullptr || job.ranks != before->ranks) {
        if (before != nullptr || !job.ranks.empty()) loaded.select(all, job.ranks, cluster);
        layout = rank_layout(loaded.nodes.hosts, *loaded.network, loaded.nodes.devices);
      }
      before = &job;
      const CollectiveTiming timing = time_one(job, cluster, loaded, layout, use, link_use);
      choices.note(to_string(job.request.kind), timing.algorithm, *std::ranges::max_element(job.request.bytes));
      WireWriter message = about(TimingTopic::collective);
      message << timing;
      sink.send(message.bytes());
    }
    describe_links(*loaded.network, use);
    link_use.describe(*loaded.network, use);
    use.messages = static_cast<double>(loaded.connections->messages());
    WireWriter message = about(TimingTopic::network);
    message << use;
    sink.send(message.bytes());
  });
}

}  // namespace dadsim::sim
