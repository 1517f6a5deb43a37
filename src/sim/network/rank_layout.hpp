#pragma once

#include <span>
#include <vector>

#include "collectives/collective.hpp"
#include "sim/network/interconnect.hpp"
#include "spec/device_specification.hpp"

namespace dadsim::sim {

/// Returns the layout of ranks: hosts that share a node (property `node`; a host without it is a node), and the paths
/// inside and between nodes. The first pair of each kind is measured. The library follows from the devices, one per
/// host, unless the platform names one. Without devices, or with an unknown one, the platform determines the library.
collectives::RankLayout rank_layout(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network,
                                    std::span<const spec::DeviceSpec* const> devices = {});

/// Returns whether a WAN line separates some of `hosts` from the first: regions or clusters of a declared platform.
bool joined_by_wan(const std::vector<simgrid::s4u::Host*>& hosts);

}  // namespace dadsim::sim
