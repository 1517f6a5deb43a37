#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sim/platform.hpp"
#include "spec/platform_specification.hpp"

// Examinations of inspect_platform that need processes of their own.

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

/// Examines the hosts, and the report's classes of links, which need no routes.
std::vector<HostOf> look_at_parts(const spec::PlatformSpec& platform, PlatformReport& report);

/// Returns the figures of each route of `ways`. If SimGrid ends the child over a missing route, another child continues
/// with the next one.
std::vector<RouteFigures> look_at_routes(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                                         const std::vector<HostWay>& ways, bool with_names);

/// Adds the bisection, and the names of the links of the best and the worst route.
void look_closer(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                 const std::vector<HostWay>& across, PlatformReport& report);

}  // namespace dadsim::sim
