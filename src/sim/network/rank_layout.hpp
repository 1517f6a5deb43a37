#pragma once

#include <span>
#include <vector>

#include "collectives/collective.hpp"
#include "sim/network/interconnect.hpp"
#include "spec/device_specification.hpp"

namespace dadsim::sim {

/// Which of the hosts share a node (their property `node`; a host without one is a node), and what the paths inside and
/// between nodes are like: of the first such pairs. Whose library they have the devices say, one per host, unless the
/// platform was told; without devices, or with one of which it is not known, the platform says what it joins.
collectives::RankLayout rank_layout(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network,
                                    std::span<const spec::DeviceSpec* const> devices = {});

/// Whether some of `hosts` are across a line of a WAN from the first: regions or clusters of a declared platform.
bool joined_by_wan(const std::vector<simgrid::s4u::Host*>& hosts);

}  // namespace dadsim::sim
