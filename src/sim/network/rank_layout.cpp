#include "sim/network/rank_layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace dadsim::sim {
namespace {

collectives::RankLayout::Channel channel(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                                         Interconnect& network) {
  const Path& path = network[network.path(from, to)];
  const double small = path.use.cost(1).overhead;  // of the protocol for small messages
  return {path.latency + small, path.use.payload_rate};
}

/// The generation of the NVLink that joins the GPUs of a node to a switch, where two ports are all the way; else 0.
int nvlink_generation(const Path& path, const Interconnect& network) {
  if (path.links.size() != 2) return 0;
  int least = std::numeric_limits<int>::max();
  for (const std::int32_t index : path.links) {
    constexpr std::string_view kFamily = "nvlink-";
    const std::string& name = network.link(index).use.link_class;
    least = std::min(least, name.starts_with(kFamily) ? std::atoi(name.c_str() + kFamily.size()) : 0);
  }
  return least;
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
  for (std::size_t i = 1; i < hosts.size() && !(inside && between); ++i) {
    if (!inside && layout.node_of[i] == layout.node_of[i - 1] && hosts[i] != hosts[i - 1]) {
      layout.inside = channel(hosts[i - 1], hosts[i], network);
      const int generation = nvlink_generation(network[network.path(hosts[i - 1], hosts[i])], network);
      layout.switched_nodes = generation > 0;
      layout.switch_adds_up = generation >= 4;  // NVLink SHARP, from Hopper on
      inside = true;
    }
    if (!between && layout.node_of[i] != layout.node_of[0]) {
      layout.between = channel(hosts[0], hosts[i], network);
      between = true;
    }
  }
  // A WAN between clusters of such nodes: other switches of the same fabric are nearer than that.
  constexpr double kMuchFarther = 4;
  if (layout.switched_nodes && between &&
      channel(hosts.front(), hosts.back(), network).latency > kMuchFarther * layout.between.latency) {
    layout.switched_nodes = false;
  }
  if (!inside) layout.inside = layout.between;
  if (!between) layout.between = layout.inside;
  return layout;
}

}  // namespace dadsim::sim
