#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/flow/flow_pattern.hpp"
#include "sim/flow/flow_routes.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// The network as the ranks of a collective see it, and how they write their messages to it.
class FlowNetwork {
 public:
  /// `by_classes`: false takes every pair for itself, however alike they are.
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
  /// The links of a pair of a pattern, whose class takes `path`. Holds until the next call.
  const std::vector<std::int32_t>& links_of(const FlowPattern& pattern, std::int32_t path,
                                            const FlowPattern::Pair& pair) {
    if (!pattern.is_divided) return network[path].links;
    return routes().links(static_cast<std::size_t>(pair.from / lanes), static_cast<std::size_t>(pair.to / lanes));
  }

  Interconnect& network;
  const std::vector<simgrid::s4u::Host*> hosts;  ///< per rank
  const bool by_classes;
  collectives::Rank lanes = 1;  ///< of the collective at hand; numbers of ranks in patterns are rank · lanes + lane
  collectives::Protocol protocol = collectives::Protocol::by_message;
  double post_seconds = 0;  ///< of each message over sockets

 private:
  std::unique_ptr<FlowRoutes> routes_;
};

}  // namespace dadsim::sim
