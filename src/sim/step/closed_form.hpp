#pragma once

#include <vector>

#include "collectives/rounds.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// Returns the seconds of the collective's closed form. Its inputs are the latency of each round's longest path and the
/// payload rate of the slowest path of all.
double closed_form_of(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
                      Interconnect& network);

/// Returns the seconds due to software: the collective over links without limits.
double software_of(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
                   Interconnect& network);

}  // namespace dadsim::sim
