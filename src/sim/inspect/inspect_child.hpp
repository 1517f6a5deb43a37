#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sim/platform.hpp"
#include "spec/platform_specification.hpp"

// What inspect_platform finds out in processes of their own.

namespace dadsim::sim {

struct HostOf {
  std::string name, node;
};

/// From a host to another: their indices.
using HostWay = std::pair<std::size_t, std::size_t>;

struct RouteFigures {
  double bandwidth = 0, payload_rate = 0, latency = 0;  ///< all 0: no route
  std::vector<std::string> links{};                     ///< where they were asked for
  std::vector<double> widths{};                         ///< of those links, byte/s
};

/// What does not need routes: the hosts, and the report's classes of links.
std::vector<HostOf> look_at_parts(const spec::PlatformSpec& platform, PlatformReport& report);

/// For each of `ways`. Where SimGrid ends the child over a route that is missing, another one goes on behind it.
std::vector<RouteFigures> look_at_routes(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                                         const std::vector<HostWay>& ways, bool with_names);

/// Names of the links of the best and the worst route, and the bisection.
void look_closer(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                 const std::vector<HostWay>& across, PlatformReport& report);

}  // namespace dadsim::sim
