#include "sim/rank_layout.hpp"

#include <map>
#include <string>

namespace dadsim {
namespace {

RankLayout::Channel channel(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to, Network& network) {
  const Path& path = network[network.path(from, to)];
  const double small = path.use.cost(1).overhead;  // of the protocol for small messages
  return {path.latency + small, path.use.payload_rate};
}

}  // namespace

RankLayout rank_layout(const std::vector<simgrid::s4u::Host*>& hosts, Network& network) {
  RankLayout layout;
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
      inside = true;
    }
    if (!between && layout.node_of[i] != layout.node_of[0]) {
      layout.between = channel(hosts[0], hosts[i], network);
      between = true;
    }
  }
  if (!inside) layout.inside = layout.between;
  if (!between) layout.between = layout.inside;
  return layout;
}

}  // namespace dadsim
