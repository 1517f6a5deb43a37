#include "sim/world/node_collectives.hpp"

#include <algorithm>
#include <span>

#include "sim/platform.hpp"
#include "support/pattern.hpp"

namespace dadsim::sim {

using world::Node;

std::vector<std::string> NodeCollectives::hosts_of(const std::vector<Node>& nodes) const {
  std::vector<std::string> hosts;
  for (const Node node : nodes) {
    const auto i = static_cast<std::size_t>(node);
    hosts.push_back(i < cluster_.hosts.size() ? cluster_.hosts[i] : cluster_.aggregator_host);
  }
  return hosts;
}

NodeCollectives::Timed NodeCollectives::time(const world::Collective& what) {
  const auto [known, added] = known_.try_emplace({what.nodes, what.kind, what.bytes, what.algorithm});
  CollectiveTiming& timing = known->second;
  if (added) {
    Cluster ranks = cluster_;
    ranks.hosts = hosts_of(what.nodes);
    ranks.devices.clear();
    ranks.numbers.clear();
    for (const Node node : what.nodes) {
      const auto i = static_cast<std::size_t>(node);
      ranks.devices.push_back(i < cluster_.devices.size() ? cluster_.devices[i] : cluster_.aggregator_device);
    }
    ranks.aggregator_host.clear();
    ranks.framework = {};  // it carries messages of single senders
    ranks.causes = false;
    CollectiveJob job{.request = {}, .algorithm = what.algorithm, .traffic = true};
    job.request.kind = what.kind;
    job.request.bytes = {what.bytes};
    timing = time_collectives(ranks, std::span(&job, 1)).timings.at(0);
  }
  messages_ += timing.messages;
  const bool cold = warm_.insert(what.nodes).second;
  return {cold ? timing.cold_seconds : timing.seconds, {timing.sent, timing.received}};
}

bool NodeCollectives::cross(const std::vector<Node>& nodes, const std::string& pattern) {
  constexpr std::size_t kMostNodes = 100;  // whose routes are looked up
  if (nodes.size() > kMostNodes) return true;
  const auto [known, added] = links_.try_emplace(nodes);
  if (added) {
    for (const RouteLink& link : platform_routes(cluster_.platform, hosts_of(nodes))) known->second.insert(link.link);
  }
  return std::ranges::any_of(known->second, [&](const std::string& name) { return fits(pattern, name); });
}

}  // namespace dadsim::sim
