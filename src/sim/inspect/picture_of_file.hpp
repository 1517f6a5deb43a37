#pragma once

#include <vector>

#include "sim/inspect/inspect_child.hpp"
#include "sim/platform.hpp"

namespace dadsim::sim {

/// The hosts of a file around a network, each with the bandwidth of its widest route out and in.
Picture picture_of_file(const std::vector<HostOf>& hosts, const std::vector<HostWay>& ways,
                        const std::vector<RouteFigures>& figures);

}  // namespace dadsim::sim
