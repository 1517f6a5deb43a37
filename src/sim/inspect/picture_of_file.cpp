#include "sim/inspect/picture_of_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "sim/platform/build/picture.hpp"

namespace dadsim::sim {
namespace {

/// Per host, the links over which every route begins or ends there.
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

}  // namespace

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
  // A host's own line has its own numbers, whatever routes get beyond it: a hub's is wider than those of its sites.
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

}  // namespace dadsim::sim
