#pragma once

#include <vector>

#include "collectives/rounds.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// Returns the seconds of a collective by its closed form. The closed form uses the latency of each round's longest
/// path, and the payload rate of the slowest path of all.
double closed_form_of(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
                      Interconnect& network);

/// Returns the seconds of a collective over links without limits, which are due to software.
double software_of(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
                   Interconnect& network);

}  // namespace dadsim::sim
