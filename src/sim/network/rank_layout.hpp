#pragma once

#include <vector>

#include "collectives/collective.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// Which of the hosts share a node (their property `node`; a host without one is a node), and what the paths inside and
/// between nodes are like: of the first such pairs.
collectives::RankLayout rank_layout(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network);

/// Whether the first of `hosts` has others near it, and the last across a line of a WAN: clusters of a
/// declared platform that such lines join.
bool joined_by_wan(const std::vector<simgrid::s4u::Host*>& hosts);

}  // namespace dadsim::sim
