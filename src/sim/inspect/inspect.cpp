#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/inspect/inspect_child.hpp"
#include "sim/platform.hpp"
#include "sim/platform/build/picture.hpp"

namespace dadsim::sim {
namespace {

/// Returns each host's own links: those that only routes from or to this host contain.
std::vector<std::vector<std::string>> own_links(std::size_t hosts, const std::vector<HostWay>& ways,
                                                const std::vector<RouteFigures>& figures) {
  std::map<std::string, std::vector<std::size_t>> owners;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    for (const std::string& link : figures[i].links) {
      const auto [place, added] = owners.try_emplace(link, std::vector<std::size_t>{ways[i].first, ways[i].second});
      if (added) continue;
      std::erase_if(place->second, [&](std::size_t one) { return one != ways[i].first && one != ways[i].second; });
    }
  }
  std::vector<std::vector<std::string>> own(hosts);
  for (const auto& [link, of] : owners) {
    for (const std::size_t one : of) own[one].push_back(link);
  }
  return own;
}

/// Returns a picture of a file's hosts around a network. Each host has the bandwidth of its widest route out and in.
Picture picture_of_file(const std::vector<HostOf>& hosts, const std::vector<HostWay>& ways,
                        const std::vector<RouteFigures>& figures) {
  Picture picture;
  if (hosts.size() > kDrawnOneByOne) {
    picture.boxes.push_back({"hosts", fmt::format("{} hosts", hosts.size()), Picture::Kind::node, ""});
    return picture;
  }
  std::vector<double> out(hosts.size(), 0);
  std::vector<double> in(hosts.size(), 0);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    out[ways[i].first] = std::max(out[ways[i].first], figures[i].bandwidth);
    in[ways[i].second] = std::max(in[ways[i].second], figures[i].bandwidth);
  }
  const std::vector<std::vector<std::string>> own = own_links(hosts.size(), ways, figures);
  // Uses the bandwidth of a host's own line, even if all its routes are narrower: a hub's line is wider than those of
  // its sites.
  std::vector<double> own_out(hosts.size(), std::numeric_limits<double>::infinity());
  std::vector<double> own_in = own_out;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    for (std::size_t k = 0; k < figures[i].links.size(); ++k) {
      for (const auto& [host, least] : {std::pair(ways[i].first, &own_out), std::pair(ways[i].second, &own_in)}) {
        if (std::ranges::count(own[host], figures[i].links[k]) > 0)
          (*least)[host] = std::min((*least)[host], figures[i].widths[k]);
      }
    }
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (std::isfinite(own_out[i])) out[i] = own_out[i];
    if (std::isfinite(own_in[i])) in[i] = own_in[i];
  }
  const std::string network = "the network";
  picture.boxes.push_back({network, network, Picture::Kind::network, ""});
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    picture.boxes.push_back({hosts[i].name, hosts[i].name, Picture::Kind::host,
                             hosts[i].node == hosts[i].name ? std::string{} : hosts[i].node});
    picture.edges.push_back(
        {hosts[i].name, network, fmt::format("up {}, down {}", rate_in_words(out[i]), rate_in_words(in[i])), own[i]});
  }
  return picture;
}

constexpr std::size_t kHostsAllPairs = 256;  // hosts up to which all pairs are examined (see PlatformReport)

const char* kind_of(const spec::PlatformSpec& platform) {
  constexpr std::array kNames{"file", "gpu-cluster", "federation", "wan", "composition"};
  static_assert(std::variant_size_v<decltype(spec::PlatformSpec::what)> == kNames.size());
  return kNames[platform.what.index()];
}

/// Returns the pairs of hosts to examine.
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
  std::vector<bool> joined(hosts.size(), true);  // per host, whether it has a route to the host hosts.size() / 2 places
                                                 // later
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
