#pragma once

#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"

namespace dadsim::study {

/// How layouts are simulated unless the scenario says it: by flow, since many have to be and messages of one can take
/// minutes. Where messages alone can follow the network (it changes over time, or others use it) it stays as it is.
void take_flow(scenario::Scenario& scenario);

/// The cluster of a scenario whose fidelity take_flow() chose: what flow does not take fails.
sim::Cluster cluster_by_flow(const scenario::Scenario& scenario);

}  // namespace dadsim::study
