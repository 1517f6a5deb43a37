#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/flow/flow_pattern.hpp"
#include "sim/flow/flow_routes.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// The network of a collective's ranks, and the rules by which they send messages.
class FlowNetwork {
 public:
  /// `by_classes`: false treats every pair separately, even equivalent ones.
  FlowNetwork(Interconnect& all, std::vector<simgrid::s4u::Host*> ranks, bool classes)
      : network(all), hosts(std::move(ranks)), by_classes(classes) {}
  FlowNetwork(const FlowNetwork&) = delete;
  FlowNetwork& operator=(const FlowNetwork&) = delete;

  FlowRoutes& routes() {
    if (!routes_) routes_ = std::make_unique<FlowRoutes>(network, hosts);
    return *routes_;
  }
  const simgrid::s4u::Host* host_of(collectives::Rank rank_and_lane) const {
    return hosts[static_cast<std::size_t>(rank_and_lane / lanes)];
  }
  /// Returns the links of pair number `index` of a pattern, whose class uses `path`. Valid until the next call.
  std::span<const std::int32_t> links_of(const FlowPattern& pattern, std::int32_t path, std::size_t index) {
    if (!pattern.is_divided) return network[path].links;
    if (!pattern.way_offsets.empty()) {
      const std::size_t first = pattern.way_offsets[index];
      return std::span(pattern.way_links).subspan(first, pattern.way_offsets[index + 1] - first);
    }
    const FlowPattern::Pair& pair = pattern.pairs[index];
    return routes().links(static_cast<std::size_t>(pair.from / lanes), static_cast<std::size_t>(pair.to / lanes));
  }

  Interconnect& network;
  const std::vector<simgrid::s4u::Host*> hosts;  ///< host of each rank
  const bool by_classes;
  collectives::Rank lanes = 1;  ///< lanes of the current collective; patterns number ranks as rank · lanes + lane
  collectives::Protocol protocol = collectives::Protocol::by_message;
  double post_seconds = 0;  ///< seconds to post each message over sockets

 private:
  std::unique_ptr<FlowRoutes> routes_;
};

}  // namespace dadsim::sim
