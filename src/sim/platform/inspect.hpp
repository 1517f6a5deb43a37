#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/platform/build/picture.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// What a platform is like, as SimGrid has it once it is built. Bandwidths are nominal, byte/s; latencies seconds one
/// way.
struct PlatformReport {
  /// Links with the same numbers.
  struct LinkClass {
    std::string name;        ///< of the catalogue; empty where the platform says nothing
    std::int64_t count = 0;  ///< each direction is one
    double bandwidth = 0;
    double latency = 0;
    std::string transport;
    double efficiency = 1;
    bool operator==(const LinkClass&) const = default;
  };
  struct Route {
    std::string from, to;            ///< hosts
    std::vector<std::string> links;  ///< in order
    double bandwidth = 0;            ///< of the narrowest link
    double payload_rate = 0;         ///< byte/s: the least bandwidth × efficiency
    double latency = 0;
  };

  std::string kind;  ///< "gpu-cluster", "federation", "wan", "composition" or "file"
  std::string description;
  std::int64_t hosts = 0;
  std::int64_t nodes = 0;
  std::vector<LinkClass> links;  ///< by name, then the widest first; without the way of a host to itself
  /// Of the routes looked at: the most bandwidth, then the least latency; and the other way round. None if no hosts are
  /// joined.
  std::optional<Route> best, worst;
  std::int64_t routes = 0;          ///< looked at
  bool all_routes = true;           ///< between all pairs of hosts; else a sample, see `inspect_platform`
  std::int64_t routes_missing = 0;  ///< of those looked at
  /// Host i of the first half sends to host i of the second half, all at once: the sum of their rates when they share
  /// all links max-min fairly, byte/s, one direction. An upper bound of it is the bandwidth across the halves, which
  /// the routes need not reach. Nothing if it could not be found out.
  std::optional<double> bisection;
  std::int64_t bisection_pairs = 0;
  Picture picture;
};

/// Builds the platform in a forked process and looks at it. Up to 256 hosts all pairs are looked at; beyond, from each
/// of 256 hosts evenly spread to those 1, 2, 4, 8 … further on, which has near ones and far ones in it. Throws
/// std::runtime_error if the platform cannot be built.
PlatformReport inspect_platform(const spec::PlatformSpec& platform);

/// A picture of it in the language of Graphviz (`dot`). With `busy_shares`, by the names of links, edges are the darker
/// and thicker the busier their busiest link is, and say so; those with no link in it stay thin and grey.
std::string to_dot(const PlatformReport& report, const std::map<std::string, double>& busy_shares = {});

}  // namespace dadsim::sim
