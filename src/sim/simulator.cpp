#include "sim/simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "schedule/schedule_check.hpp"
#include "sim/child/timing_child.hpp"
#include "sim/child/timing_messages.hpp"
#include "sim/platform.hpp"
#include "sim/process/child_process.hpp"
#include "sim/process/simgrid_output.hpp"
#include "sim/step/step_selection.hpp"
#include "sim/step/step_without.hpp"
#include "step/timing_bytes.hpp"

namespace dadsim::sim {
namespace {

/// Throws an error with the reason for which a child ended early. The message gives `done` of `all` results.
[[noreturn]] void give_up(const ChildOutcome& outcome, std::string failure, const std::string& what, std::size_t done,
                          std::size_t all) {
  failure = failure_of(outcome, std::move(failure));
  const std::string how = outcome.complete() ? "ended early" : outcome.description();
  throw SimulationError(
      failure.empty()
          ? fmt::format("the simulation {} after {} of {} {}", how, done, all, what)
          : fmt::format("the simulation failed after {} of {} {}: {}{}", done, all, what, failure,
                        outcome.end == ChildOutcome::ChildEnd::killed ? " (it " + how + ")" : std::string{}));
}

}  // namespace

bool network_differs(const Cluster& cluster) {
  return varies_over_time(cluster.platform) || !cluster.platform.background.empty();
}

bool every_step_differs(const Cluster& cluster) {
  return network_differs(cluster) || !(cluster.network.jitter == spec::JitterSpec{});
}

TimedRun time_schedules(const Cluster& cluster, std::span<const schedule::Schedule> schedules,
                        const std::function<void(std::size_t)>& progress, const TimingRequest& request) {
  TimedRun result;
  if (schedules.empty()) return result;
  if (cluster.devices.size() != cluster.hosts.size()) {
    throw SimulationError(fmt::format("every worker needs a host and a device, but there are {} hosts and {} devices",
                                      cluster.hosts.size(), cluster.devices.size()));
  }
  const auto check = [&](std::size_t i) {
    const std::string fault = schedule::fault_of(schedules[i], cluster.hosts.size(), !cluster.aggregator_host.empty());
    if (!fault.empty()) throw SimulationError(fmt::format("schedule {} {}", i, fault));
  };
  const bool every_step = every_step_differs(cluster);
  const schedule::StepKinds* kinds = every_step ? nullptr : request.kinds;
  const bool known = kinds != nullptr;
  std::optional<schedule::StepKinds> own_kinds;
  if (!known) {
    for (std::size_t i = 0; i < schedules.size(); ++i) check(i);
    if (!every_step) kinds = &own_kinds.emplace(schedules);
  }
  const auto most = static_cast<std::size_t>(cluster.network.timed_steps);
  const StepSelection plan(schedules.size(), kinds,
                           {.most = most, .occurrences = request.occurrences, .trace = request.trace});
  if (known) {
    for (const StepSelection::Simulated& one : plan.simulated()) check(one.schedule);
  }
  std::vector<schedule::Traffic> others;
  others.reserve(plan.others().size());
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): without kinds the plan has no others
  for (const std::size_t kind : plan.others()) others.push_back(kinds->kinds()[kind].star_traffic);
  std::vector<std::shared_ptr<const step::Timeline>> timelines(plan.simulated().size());
  std::vector<step::StepTiming> simulated;
  std::vector<StepWithout> without;
  std::string failure;
  bool complete = false;
  const auto on_message = [&](std::string_view bytes) {
    WireReader message(bytes);
    const std::optional<TimingTopic> topic = topic_of(message, failure);
    if (!topic) return;
    switch (*topic) {
      case TimingTopic::first:
        message >> result.first.emplace();
        return;
      case TimingTopic::first_steps:
        message >> result.first_steps;
        return;
      case TimingTopic::network:
        message >> result.network >> without;
        complete = true;
        return;
      case TimingTopic::timeline:  // the timeline arrives before the timing of its schedule
        timelines[simulated.size()] = std::make_shared<const step::Timeline>(message.read<step::Timeline>());
        return;
      case TimingTopic::first_timeline:
        result.first_timeline = std::make_shared<const step::Timeline>(message.read<step::Timeline>());
        return;
      case TimingTopic::timing:
        message >> simulated.emplace_back();
        if (progress) progress(plan.done_after(simulated.size()));
        return;
      case TimingTopic::traffic: {
        std::uint64_t kind = 0;
        schedule::Traffic more;
        message >> kind >> more.sent >> more.received;
        const auto place = std::ranges::lower_bound(plan.others(), kind) - plan.others().begin();
        schedule::Traffic& all = others.at(static_cast<std::size_t>(place));
        std::ranges::transform(all.sent, more.sent, all.sent.begin(), std::plus{});
        std::ranges::transform(all.received, more.received, all.received.begin(), std::plus{});
        return;
      }
      case TimingTopic::collective:
      case TimingTopic::failure:
        return;
    }
  };
  const ChildOutcome outcome = run_in_child(
      [&](const MessageSink& sink) {
        simulate({cluster, schedules, kinds, plan, request}, sink);
      },
      on_message);
  if (!outcome.complete() || !complete) {
    give_up(outcome, failure, "steps", simulated.size(), plan.simulated().size());
  }
  if (!without.empty()) {
    const std::vector<step::StepTiming> as_timed = simulated;
    if (result.first)
      weigh_first_step(without.front(), result.first->seconds, as_timed.front().seconds,
                       plan.simulated().front().times);
    const auto hold = [&](const StepWithout& like, step::StepTiming& timing) {
      hold_to_savings(like.seconds, as_timed[like.place].seconds, timing);
    };
    if (result.first) hold_to_savings(without.front().cold, *result.first);
    for (std::size_t i = 0; i < simulated.size(); ++i)
      hold(*std::prev(std::ranges::upper_bound(without, i, {}, &StepWithout::place)), simulated[i]);
  }
  result.stand_for = plan.stand_for();
  result.network.sampling = plan.sampling(simulated);
  result.steps = plan.timings_of_all(std::move(simulated), std::move(others));
  if (every_step && most > 0 && most < schedules.size()) {
    result.network.fidelity_notes.push_back({"every-step-simulated"});
  }
  for (const std::size_t schedule : request.trace) result.timelines.push_back(timelines[plan.place_of(schedule)]);
  if (request.trace_first && !result.first_timeline) result.first_timeline = timelines.front();
  return result;
}

TimedCollectives time_collectives(const Cluster& cluster, std::span<const CollectiveJob> jobs,
                                  const std::function<void(std::size_t)>& progress) {
  TimedCollectives result;
  if (jobs.empty()) return result;
  std::string failure;
  bool complete = false;
  const auto on_message = [&](std::string_view bytes) {
    WireReader message(bytes);
    const std::optional<TimingTopic> topic = topic_of(message, failure);
    if (!topic) return;
    if (*topic == TimingTopic::network) {
      message >> result.network;
      complete = true;
    } else {
      message >> result.timings.emplace_back();
      if (progress) progress(result.timings.size());
    }
  };
  const ChildOutcome outcome =
      run_in_child([&](const MessageSink& sink) { simulate_collectives(cluster, jobs, sink); }, on_message);
  if (!outcome.complete() || !complete) give_up(outcome, failure, "collectives", result.timings.size(), jobs.size());
  return result;
}

}  // namespace dadsim::sim
