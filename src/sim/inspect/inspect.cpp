#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "sim/inspect/inspect_child.hpp"
#include "sim/inspect/picture_of_file.hpp"
#include "sim/platform.hpp"
#include "sim/platform/build/picture.hpp"

namespace dadsim::sim {
namespace {

constexpr std::size_t kHostsAllPairs = 256;  // as documented in the header

const char* kind_of(const spec::PlatformSpec& platform) {
  constexpr std::array kNames{"file", "gpu-cluster", "federation", "wan", "composition"};
  static_assert(std::variant_size_v<decltype(spec::PlatformSpec::what)> == kNames.size());
  return kNames[platform.what.index()];
}

/// The pairs of hosts that are looked at.
std::vector<HostWay> ways_to_look_at(std::size_t hosts) {
  std::vector<HostWay> ways;
  if (hosts <= kHostsAllPairs) {
    for (std::size_t from = 0; from < hosts; ++from) {
      for (std::size_t to = 0; to < hosts; ++to) {
        if (from != to) ways.emplace_back(from, to);
      }
    }
    return ways;
  }
  for (std::size_t i = 0; i < kHostsAllPairs; ++i) {
    const std::size_t from = i * hosts / kHostsAllPairs;
    for (std::size_t further = 1; further < hosts; further *= 2) ways.emplace_back(from, (from + further) % hosts);
  }
  return ways;
}

}  // namespace

PlatformReport inspect_platform(const spec::PlatformSpec& platform) {
  PlatformReport report;
  report.kind = kind_of(platform);
  report.description = platform.description;
  const std::vector<HostOf> hosts = look_at_parts(platform, report);
  report.hosts = static_cast<std::int64_t>(hosts.size());
  std::vector<std::string> nodes;
  nodes.reserve(hosts.size());
  for (const HostOf& one : hosts) nodes.push_back(one.node);
  std::ranges::sort(nodes);
  report.nodes = std::unique(nodes.begin(), nodes.end()) - nodes.begin();

  const std::vector<HostWay> ways = ways_to_look_at(hosts.size());
  const bool is_file = std::holds_alternative<spec::PlatformFileSpec>(platform.what);
  const bool drawn_as_file = is_file && hosts.size() <= kDrawnOneByOne;
  const std::vector<RouteFigures> figures = look_at_routes(platform, hosts, ways, drawn_as_file);
  report.routes = static_cast<std::int64_t>(ways.size());
  report.all_routes = hosts.size() <= kHostsAllPairs;
  const auto better = [&](const RouteFigures& a, const RouteFigures& b) {
    return std::pair{a.bandwidth, -a.latency} > std::pair{b.bandwidth, -b.latency};
  };
  std::optional<std::size_t> best, worst;
  std::vector<bool> joined(hosts.size(), true);  // to the host half of all hosts further on
  const std::size_t half = hosts.size() / 2;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!(figures[i].bandwidth > 0)) {
      ++report.routes_missing;
      if (ways[i].second == ways[i].first + half) joined[ways[i].first] = false;
      continue;
    }
    if (!best || better(figures[i], figures[*best])) best = i;
    if (!worst || better(figures[*worst], figures[i])) worst = i;
  }
  const auto described = [&](std::size_t i) {
    return PlatformReport::Route{hosts[ways[i].first].name, hosts[ways[i].second].name, {},
                                 figures[i].bandwidth,      figures[i].payload_rate,    figures[i].latency};
  };
  if (best) report.best = described(*best);
  if (worst) report.worst = described(*worst);

  std::vector<HostWay> across;
  for (std::size_t i = 0; i < half; ++i) {
    if (joined[i]) across.emplace_back(i, i + half);
  }
  report.bisection_pairs = static_cast<std::int64_t>(across.size());
  if (!across.empty()) look_closer(platform, hosts, across, report);

  report.picture = is_file ? picture_of_file(hosts, ways, figures) : draw(platform);
  return report;
}

}  // namespace dadsim::sim
