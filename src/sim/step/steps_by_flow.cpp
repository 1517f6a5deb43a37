#include "sim/step/steps_by_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/flow/flow_events.hpp"
#include "sim/step/flow_collectives.hpp"
#include "sim/step/step_semantics.hpp"

namespace dadsim::sim {
namespace {

constexpr double kSaid = 3e-3;            // overlooked share of a step above which the share is reported and the step
                                          // timed again
constexpr int kMostAgain = 6;             // largest number of repetitions of a step
constexpr double kLarge = 1e7;            // tasks × devices of a stage that take processor seconds to time
constexpr double kSaidOfLarge = 5e-3;     // overlooked share above which it is reported, for a large step or a quick
                                          // answer
constexpr int kLargeAgain = 2;            // largest number of repetitions of a large step
constexpr double kSettled = 1e-3;         // difference between two repetitions that counts as equal, as a share of the
                                          // step
constexpr double kLargestDoubt = 0.3;     // largest error that is accepted with a note, as a share of the step
constexpr double kOverlooked = 1e-3;      // doubt due to late ranks that is ignored, as a share of the step
constexpr double kMostWrong = 5e-3;       // doubt above which messages are simulated if they are few, as a share of the
                                          // step
constexpr std::size_t kManyRanks = 256;   // ranks whose individual dates take seconds and gigabytes
constexpr double kFewMessages = 400'000;  // messages that are simulated in less than half a second
constexpr double kTooWrong = 1e-2;        // share of the step in doubt above which messages would be simulated by
                                          // SimGrid if they are quick
constexpr double kSomeMessages = 2.5e6;  // largest number of messages for FollowedStep, which takes a tenth of the time

}  // namespace

struct StepsByFlow::KnownTiming {
  KnownTiming(const Nodes& nodes, const collectives::RankLayout& of, const schedule::Schedule& what,
              Interconnect& network, bool closed_form)
      : layout(of),
        schedule(&what),
        parts(what, nodes.workers),
        collectives(nodes, parts, layout, what, network, closed_form),
        overlaps(network) {}

  const collectives::RankLayout layout;
  const schedule::Schedule* schedule;
  const Parts parts;
  FlowCollectives collectives;
  FlowOverlaps overlaps;
  bool all_enter = false;  ///< true: ranks may enter collectives late; false: late ranks lead to a refusal
};

StepsByFlow::StepsByFlow(const Nodes& nodes, Interconnect& network, bool closed_form, bool quick)
    : nodes_(nodes), network_(network), closed_form_(closed_form), quick_(quick) {}
StepsByFlow::~StepsByFlow() = default;

Refused StepsByFlow::time(const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                          const std::vector<double>& slowdown, FlowStep& result, TimelineRecorder* recorder) {
  if (known_ == nullptr || (known_->schedule != &schedule && *known_->schedule != schedule)) {
    known_.reset();
    known_ = std::make_unique<KnownTiming>(nodes_, layout, schedule, network_, closed_form_);
  }
  FlowStepRequest request = request_of(nodes_, slowdown);
  if (Refused refused = choose(request, result)) return refused;
  if (recorder == nullptr) return {};
  // Records the timeline with the chosen treatment.
  request.recorder = recorder;
  const double wrong_by = result.wrong_by;
  const double shared_wrong_by = result.shared_wrong_by;
  Refused refused = step_by_flow(request, result);
  result.wrong_by = wrong_by;
  result.shared_wrong_by = shared_wrong_by;
  return refused;
}

FlowStepRequest StepsByFlow::request_of(const Nodes& nodes, const std::vector<double>& slowdown) const {
  return {.nodes = nodes,
          .parts = known_->parts,
          .schedule = *known_->schedule,
          .slowdown = slowdown,
          .collectives = known_->collectives,
          .network = network_,
          .overlaps = known_->overlaps,
          .closed_form = closed_form_};
}

SecondsWithout StepsByFlow::without(const std::vector<double>& slowdown) {
  const auto seconds = [&](const Nodes& nodes, Without what) -> std::optional<double> {
    FlowStepRequest request = request_of(nodes, slowdown);
    request.without = what;
    FlowStep step;
    const Refused refused = what == Without::network ? step_by_flow(request, step) : choose(request, step);
    return refused ? std::nullopt : std::optional(step.timing.seconds);
  };
  const InstantNodes instant(nodes_);
  known_->collectives.reuse_runs(true);
  SecondsWithout without{seconds(instant.nodes, Without::nothing), seconds(nodes_, Without::network)};
  if (nodes_.framework != nullptr && !nodes_.framework->none()) without.framework = seconds(nodes_, Without::framework);
  known_->collectives.reuse_runs(false);
  return without;
}

bool StepsByFlow::is_large(const schedule::Schedule& schedule) {
  return static_cast<double>(schedule.tasks.size()) *
             static_cast<double>(schedule.workers / static_cast<std::size_t>(schedule.pipeline)) >
         kLarge;
}

/// Estimates the doubt about shared links. The rule for two collectives assumes that both send all the time and share a
/// link by their messages on it. In fact a collective that waits between its messages may be delayed less, or delayed
/// by each message of the other.
Refused StepsByFlow::doubt_sharing(FlowStepRequest& request, FlowStep& result) {
  double most = 0;
  for (const SharedLinks sharing : {SharedLinks::least, SharedLinks::most}) {
    request.sharing = sharing;
    FlowStep other;
    if (Refused refused = step_by_flow(request, other)) return refused;
    most = std::max(most, std::abs(other.timing.seconds - result.timing.seconds));
  }
  request.sharing = SharedLinks::expected;
  result.shared_wrong_by += most;
  return {};
}

/// If collectives delay one another by too much, times the step again with the overlaps found so far, until two
/// successive times agree.
Refused StepsByFlow::settle_overlaps(FlowStepRequest& request, FlowStep& result) {
  const int times = is_large(request.schedule) ? kLargeAgain : kMostAgain;
  double most = quick_ || times == kLargeAgain ? kSaidOfLarge : kSaid;
  request.known_overlaps = KnownOverlaps::last_time;
  for (int i = 0; i < times && result.overlooked > most * result.timing.seconds; ++i) {
    FlowStep again;
    if (Refused refused = step_by_flow(request, again)) return refused;
    again.overlooked += std::abs(again.timing.seconds - result.timing.seconds);
    result = std::move(again);
    most = kSettled;
  }
  request.known_overlaps = KnownOverlaps::before;
  if (result.overlooked <= kLargestDoubt * result.timing.seconds) return {};
  return FlowRefusal{fmt::format("concurrent collectives share links ({:.3g} s of a step of {:.3g} s)",
                                 result.overlooked, result.timing.seconds)};
}

Refused StepsByFlow::choose(FlowStepRequest& request, FlowStep& result) {
  const auto timed = [&](LateRanks late_ranks, FlowStep& step) {
    request.late_ranks = late_ranks;
    return step_by_flow(request, step);
  };
  request.all_enter = known_->all_enter;
  if (Refused refused = timed(LateRanks::enter, result)) {
    if (!refused->apart || request.all_enter || closed_form_ || !FlowEvents::serves_without_loss(network_))
      return refused;
    if (quick_ && nodes_.hosts.size() > kManyRanks) return refused;
    request.all_enter = known_->all_enter = true;
    if (Refused again = timed(LateRanks::enter, result)) return again;
  }
  const bool rough = quick_ || is_large(request.schedule);
  const bool counted = result.overlooked > (rough ? kSaidOfLarge : kSaid) * result.timing.seconds;
  if (Refused refused = settle_overlaps(request, result)) return refused;
  if (counted) {
    result.shared_wrong_by = std::exchange(result.overlooked, 0);
    if (!rough) {
      if (Refused refused = doubt_sharing(request, result)) return refused;
    }
    result.wrong_by = result.shared_wrong_by;
  }
  if (result.entered_late <= kOverlooked * result.timing.seconds) return {};
  FlowStep sooner;
  FlowStep later;
  if (Refused refused = timed(LateRanks::sooner, sooner)) return refused;
  if (Refused refused = timed(LateRanks::later, later)) return refused;
  const double seconds = result.timing.seconds;
  result.wrong_by += std::max({0.0, seconds - sooner.timing.seconds, later.timing.seconds - seconds});
  const bool few = result.messages <= (result.wrong_by > kTooWrong * seconds ? kSomeMessages : kFewMessages);
  if (result.wrong_by > kMostWrong * seconds && few && FlowEvents::serves(network_)) {
    FlowStep followed;
    if (!timed(LateRanks::followed, followed)) {
      result = std::move(followed);
      result.wrong_by = result.overlooked;
      return {};
    }
  }
  request.late_ranks = LateRanks::enter;
  return {};
}

}  // namespace dadsim::sim
