#pragma once

#include <vector>

#include "collectives/rounds.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// Per round the latency of its longest path, and the payload rate of the slowest path of all, put into the
/// collective's closed form. Seconds.
double closed_form_of(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
                      Interconnect& network);

/// Seconds of it that software takes: the collective over links without limits.
double software_of(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
                   Interconnect& network);

}  // namespace dadsim::sim
