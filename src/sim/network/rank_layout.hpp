#pragma once

#include <span>
#include <vector>

#include "collectives/collective.hpp"
#include "sim/network/interconnect.hpp"
#include "spec/device_specification.hpp"

namespace dadsim::sim {

/// Returns the layout of ranks: hosts that share a node (property `node`; a host without it is a node), and the paths
/// inside and between nodes. The first pair of each kind is examined. The library follows from the devices, one per
/// host, unless the platform names one. The platform determines it if there are no devices, or an unknown one.
collectives::RankLayout rank_layout(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network,
                                    std::span<const spec::DeviceSpec* const> devices = {});

/// Returns whether some of `hosts` are separated from the first by a WAN line, between regions or clusters of a
/// declared platform.
bool joined_by_wan(const std::vector<simgrid::s4u::Host*>& hosts);

}  // namespace dadsim::sim
