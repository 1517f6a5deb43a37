#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sim/platform.hpp"
#include "spec/platform_specification.hpp"

// Parts of inspect_platform that need a separate process.

namespace dadsim::sim {

struct HostOf {
  std::string name, node;
};

/// Indices of the two hosts of a route: from, to.
using HostWay = std::pair<std::size_t, std::size_t>;

struct RouteFigures {
  double bandwidth = 0, payload_rate = 0, latency = 0;  ///< byte/s, byte/s and seconds; all 0: there is no route
  std::vector<std::string> links{};                     ///< names of the route's links, if requested
  std::vector<double> widths{};                         ///< bandwidths of these links, byte/s
};

/// Adds to `report` the classes of links, which need no routes, and returns the hosts.
std::vector<HostOf> look_at_parts(const spec::PlatformSpec& platform, PlatformReport& report);

/// Returns the figures of each route in `ways`. If SimGrid ends the child at a missing route, another child continues
/// with the next route.
std::vector<RouteFigures> look_at_routes(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                                         const std::vector<HostWay>& ways, bool with_names);

/// Adds to `report` the bisection bandwidth, and the links of the best and the worst route.
void look_closer(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                 const std::vector<HostWay>& across, PlatformReport& report);

}  // namespace dadsim::sim
