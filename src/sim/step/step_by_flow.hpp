#pragma once

#include "collectives/collective.hpp"
#include "sim/step/replay.hpp"
#include "step/schedule.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// Times a schedule without simulating its messages: every node goes through its tasks, and collectives take what
/// FlowModel (or, with `closed_form`, latency and bandwidth of the worst pair) says. Throws FlowRefused where workers
/// do not come to a collective together, or FlowModel does. `loads` gets what it carried, per link of the network.
/// `recorder`, if any, takes down what happens, but for the links.
step::StepTiming step_by_flow(const Nodes& nodes, const collectives::RankLayout& layout, const step::Schedule& schedule,
                              Interconnect& network, bool closed_form, std::vector<LinkLoad>& loads,
                              TimelineRecorder* recorder = nullptr);

/// Seconds of one collective that all ranks begin together.
double collective_by_flow(const Nodes& nodes, const collectives::Rounds& rounds, Interconnect& network,
                          bool closed_form);

}  // namespace dadsim::sim
