#pragma once

#include <algorithm>
#include <cstddef>
#include <variant>

#include "sim/network/interconnect.hpp"
#include "sim/simulator.hpp"

namespace dadsim::sim {

/// Whether it is worth while to share links by ourselves (LinkSharing), and right: a federation of very many sites, of
/// which all lines are TCP's, nothing varies and nothing else is carried. Where few take part SimGrid does it, as
/// everywhere else; where many do it takes too long, since it looks at all that is under way whenever something begins
/// or ends. Both share links alike.
inline bool is_large_federation(const Cluster& cluster, const Interconnect& network) {
  constexpr std::size_t kMany = 256;  // nodes
  if (cluster.hosts.size() < kMany || network.varies() || !cluster.platform.background.empty()) return false;
  const auto* federation = std::get_if<spec::FederationSpec>(&cluster.platform.what);
  if (federation == nullptr) return false;
  const auto is_tcp = [](const spec::LinkSpec& link) {
    return !(link.bandwidth > 0) || link.transport == spec::Transport::tcp;
  };
  const auto are_tcp = [&](const spec::FederationSpec::Sites& sites) { return is_tcp(sites.up) && is_tcp(sites.down); };
  return is_tcp(federation->hub_up) && is_tcp(federation->hub_down) && std::ranges::all_of(federation->sites, are_tcp);
}

}  // namespace dadsim::sim
