#pragma once

#include "collectives/rounds.hpp"
#include "sim/network/flow_refusal.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/step/nodes.hpp"

namespace dadsim::sim {

/// `seconds` of one collective that all ranks begin together, by flows or by its closed form.
[[nodiscard]] Refused collective_by_flow(const Nodes& nodes, const collectives::Rounds& rounds, Interconnect& network,
                                         bool closed_form, double& seconds);

}  // namespace dadsim::sim
