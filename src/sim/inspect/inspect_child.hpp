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
  double bandwidth = 0, payload_rate = 0, latency = 0;  ///< byte/s, byte/s and seconds; all 0: no route
  std::vector<std::string> links{};                     ///< names of links, if asked for
  std::vector<double> widths{};                         ///< byte/s of those links
};

/// Examines the parts that need no routes: the hosts, and the report's classes of links.
std::vector<HostOf> look_at_parts(const spec::PlatformSpec& platform, PlatformReport& report);

/// Returns the figures of each of `ways`. Where SimGrid ends the child over a missing route, another child continues
/// after that route.
std::vector<RouteFigures> look_at_routes(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                                         const std::vector<HostWay>& ways, bool with_names);

/// Adds the names of the links of the best and the worst route, and the bisection.
void look_closer(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                 const std::vector<HostWay>& across, PlatformReport& report);

}  // namespace dadsim::sim
