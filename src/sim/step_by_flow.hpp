#pragma once

#include "collectives/collective.hpp"
#include "plan/schedule.hpp"
#include "plan/timing.hpp"
#include "sim/replay.hpp"

namespace dadsim {

/// Times a schedule without simulating its messages: every node goes through its tasks, and collectives take what
/// FlowModel (or, with `closed_form`, latency and bandwidth of the worst pair) says. Throws FlowRefused where workers
/// do not come to a collective together, or FlowModel does. `loads` gets what it carried, per link of the network.
/// `recorder`, if any, takes down what happens, but for the links.
StepTiming step_by_flow(const Nodes& nodes, const RankLayout& layout, const Schedule& schedule, Network& network,
                        bool closed_form, std::vector<LinkLoad>& loads, TimelineRecorder* recorder = nullptr);

/// Seconds of one collective that all ranks begin together.
double collective_by_flow(const Nodes& nodes, const Rounds& rounds, Network& network, bool closed_form);

}  // namespace dadsim
