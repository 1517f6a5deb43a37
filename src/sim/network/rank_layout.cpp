#include "sim/network/rank_layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "sim/platform/build/host_zone.hpp"

namespace dadsim::sim {
namespace {

// Seconds before an operation's first message, from the tuners' tables (baseLat): NVIDIA/nccl 2.28,
// src/graph/tuning.cc, rings with LL; ROCm/rccl, the same. They stand for the start of a kernel and the library's
// own work.
constexpr double kNcclStart = 6.6e-6;
constexpr double kRcclStart = 20.5e-6;
/// What RCCL takes a hop of a tree between nodes to cost, as a multiple of one of a ring, with LL (hwLat, 9.8 and 2.0
/// µs).
constexpr double kRcclTree = 9.8 / 2.0;

collectives::RankLayout::Channel channel(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                                         Interconnect& network) {
  const Path& path = network[network.path(from, to)];
  const double small = path.use.cost(1).overhead;  // of the protocol for small messages
  collectives::RankLayout::Channel result{path.latency + small, path.use.payload_rate};
  if (!path.use.protocols.empty()) {
    result.bulk_latency = path.latency + path.use.overhead + path.use.protocols.back().latency;
  }
  return result;
}

bool all_links_are(const Path& path, const Interconnect& network, std::string_view family) {
  return std::ranges::all_of(
      path.links, [&](std::int32_t index) { return network.link(index).use.link_class.starts_with(family); });
}

/// The generation of the NVLink that joins the GPUs of a node to a switch, where it is named; else 0.
int nvlink_generation(const Path& path, const Interconnect& network) {
  int least = std::numeric_limits<int>::max();
  for (const std::int32_t index : path.links) {
    constexpr std::string_view kFamily = "nvlink-";
    const std::string& name = network.link(index).use.link_class;
    least = std::min(least, name.starts_with(kFamily) ? std::atoi(name.c_str() + kFamily.size()) : 0);
  }
  return least;
}

/// How many adapters the ranks of the first node leave it through, to reach `far`.
collectives::Rank rails_of(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::RankLayout& layout,
                           const simgrid::s4u::Host* far, Interconnect& network) {
  std::set<std::int32_t> first;
  for (std::size_t i = 0; i < hosts.size() && layout.node_of[i] == layout.node_of[0]; ++i) {
    const Path& path = network[network.path(hosts[i], far)];
    if (!path.links.empty()) first.insert(path.links.front());
  }
  return static_cast<collectives::Rank>(first.size());
}

bool is_of_gpus(const Path& path) {
  return path.use.transport == spec::Transport::nvlink || path.use.transport == spec::Transport::rdma;
}

}  // namespace

collectives::RankLayout rank_layout(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network) {
  collectives::RankLayout layout;
  std::map<std::string, std::int32_t> number_of;
  const auto next = [&number_of] { return static_cast<std::int32_t>(number_of.size()); };
  for (const simgrid::s4u::Host* host : hosts) {
    const char* node = host->get_property("node");
    const std::string name = node == nullptr ? "host " + host->get_name() : std::string("node ") + node;
    layout.node_of.push_back(number_of.try_emplace(name, next()).first->second);
  }
  bool inside = false;
  bool between = false;
  bool gpus = true;  // as far as the links tell
  double start = kNcclStart;
  for (std::size_t i = 1; i < hosts.size() && !(inside && between); ++i) {
    if (!inside && layout.node_of[i] == layout.node_of[i - 1] && hosts[i] != hosts[i - 1]) {
      layout.inside = channel(hosts[i - 1], hosts[i], network);
      const Path& path = network[network.path(hosts[i - 1], hosts[i])];
      const bool switched = path.links.size() == 2 && path.use.transport == spec::Transport::nvlink;
      layout.meshed_nodes = path.links.size() == 1 && all_links_are(path, network, "xgmi");
      layout.switched_nodes = switched || layout.meshed_nodes;
      layout.switch_adds_up = switched && nvlink_generation(path, network) >= 4;  // NVLink SHARP, from Hopper on
      gpus = gpus && is_of_gpus(path);
      start = layout.meshed_nodes ? kRcclStart : kNcclStart;
      inside = true;
    }
    if (!between && layout.node_of[i] != layout.node_of[0]) {
      layout.between = channel(hosts[0], hosts[i], network);
      layout.rails = rails_of(hosts, layout, hosts[i], network);
      const Path& path = network[network.path(hosts[0], hosts[i])];
      layout.fabric_adds_up = !path.links.empty() && network.link(path.links.front()).use.adds_up;
      gpus = gpus && is_of_gpus(path);
      between = true;
    }
  }
  // A WAN between clusters of such nodes: other switches of the same fabric are nearer than that.
  constexpr double kMuchFarther = 4;
  if (layout.switched_nodes && between &&
      channel(hosts.front(), hosts.back(), network).latency > kMuchFarther * layout.between.latency) {
    layout.switched_nodes = false;
    gpus = false;
  }
  if (gpus && (inside || between)) layout.start_seconds = start;
  if (layout.meshed_nodes && between) layout.tree_latency = (kRcclTree - 1) * layout.between.latency;
  if (!inside) layout.inside = layout.between;
  if (!between) layout.between = layout.inside;
  return layout;
}

bool joined_by_wan(const std::vector<simgrid::s4u::Host*>& hosts) {
  // Of a file nobody knows which links are a WAN's, and not all its hosts need have a way to all others.
  if (hosts.size() < 3 || declared_network() == nullptr) return false;
  const auto is_far = [&](const simgrid::s4u::Host* host) {
    std::vector<simgrid::s4u::Link*> links;
    hosts.front()->route_to(host, links, static_cast<double*>(nullptr));
    return std::ranges::any_of(links, [](const simgrid::s4u::Link* link) {
      const char* name = link->get_property("class");
      return name != nullptr && std::string_view(name) == "wan";
    });
  };
  return is_far(hosts.back()) && !is_far(hosts[1]);
}

}  // namespace dadsim::sim
