#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "sim/network/flow_refusal.hpp"
#include "sim/step/flow_collectives.hpp"
#include "sim/step/flow_overlaps.hpp"
#include "sim/step/nodes.hpp"
#include "sim/step/replay.hpp"
#include "sim/step/step_semantics.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// What a step took, and what it carried, per link of the network.
struct FlowStep {
  step::StepTiming timing;
  std::vector<LinkLoad> loads;
  double entered_late = 0;  ///< seconds by which collectives may be wrong that ranks enter late, added up
  double messages = 0;      ///< of these collectives
  double overlooked = 0;    ///< seconds by which collectives on shared links hold up one another that are not counted
  double wrong_by = 0;      ///< seconds by which the step may be wrong for both
  /// Seconds of it for what collectives take beside others on links that they share.
  double shared_wrong_by = 0;
  double across_changes = 0;  ///< seconds by which it may be wrong as links change during it
};

/// What becomes of a collective that ranks of unequal speed come to apart.
enum class LateRanks : std::uint8_t {
  enter,    ///< they enter it, and share links as if all had begun together (MaxPlusRounds)
  sooner,   ///< the same, and all are through sooner by all that this may be wrong by
  later,    ///< or later
  followed  ///< all collectives are followed message by message (FollowedStep), or each by itself where they cannot
};

/// What is known of collectives that hold up one another when a step begins.
enum class KnownOverlaps : std::uint8_t {
  nothing,
  last_time,  ///< when each occurred as the step was timed last
  before,     ///< what was known then
};

/// What a step is timed without.
enum class Without : std::uint8_t {
  nothing,
  network,   ///< collectives take what software takes
  framework  ///< what carries them out takes no time
};

struct FlowStepRequest {
  const Nodes& nodes;
  const Parts& parts;
  const schedule::Schedule& schedule;
  const std::vector<double>& slowdown;  ///< per host, multiplies the seconds of computations; empty: 1
  FlowCollectives& collectives;         ///< of the schedule
  Interconnect& network;
  FlowOverlaps& overlaps;
  KnownOverlaps known_overlaps = KnownOverlaps::nothing;
  SharedLinks sharing = SharedLinks::expected;  ///< of collectives, where it is known when they occur
  bool closed_form = false;
  Without without = Without::nothing;
  LateRanks late_ranks = LateRanks::enter;
  bool all_enter = false;                ///< late, not only ranks that compute for unequal times
  TimelineRecorder* recorder = nullptr;  ///< if any, takes down what happens, but for the links
};

/// Times a schedule without simulating its messages: every node goes through its tasks, and collectives take what
/// FlowModel (or the latency and bandwidth of the worst pair) says. Ranks that compute for unequal times enter a
/// collective when they come to it. Refused where others do not come together, or FlowModel refuses.
[[nodiscard]] Refused step_by_flow(const FlowStepRequest& request, FlowStep& result);

}  // namespace dadsim::sim
