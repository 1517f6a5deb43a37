#pragma once

#include "collectives/collective.hpp"
#include "sim/network/flow_refusal.hpp"
#include "sim/step/replay.hpp"
#include "step/schedule.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// What a step took, and what it carried, per link of the network.
struct FlowStep {
  step::StepTiming timing;
  std::vector<LinkLoad> loads;
};

/// Times a schedule without simulating its messages: every node goes through its tasks, and collectives take what
/// FlowModel (or, with `closed_form`, latency and bandwidth of the worst pair) says. Refused where workers do not come
/// to a collective together, or FlowModel refuses. `recorder`, if any, takes down what happens, but for the links.
[[nodiscard]] Refused step_by_flow(const Nodes& nodes, const collectives::RankLayout& layout,
                                   const step::Schedule& schedule, Interconnect& network, bool closed_form,
                                   FlowStep& result, TimelineRecorder* recorder = nullptr);

}  // namespace dadsim::sim
