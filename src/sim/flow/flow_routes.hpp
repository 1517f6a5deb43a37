#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/interconnect.hpp"
#include "sim/platform/build/cluster_network.hpp"

namespace dadsim::sim {

/// The ways between ranks, for pairs too many to keep a Path of each. On a declared platform its network is asked
/// directly: a way through SimGrid takes ten times as long, and is the same (some are compared). Elsewhere the ways are
/// those of Interconnect::path.
class FlowRoutes {
 public:
  FlowRoutes(Interconnect& network, const std::vector<simgrid::s4u::Host*>& hosts);

  /// The links from host to host, by their numbers in `hosts`, as indices of the interconnect. Holds until the next
  /// call.
  const std::vector<std::int32_t>& links(std::size_t from, std::size_t to);

  /// Whether all there is to a way is its links. Else it may have a latency beside theirs.
  bool are_links_alone() const { return declared_ != nullptr; }

 private:
  Interconnect& network_;
  const std::vector<simgrid::s4u::Host*>& hosts_;
  const ClusterNetwork* declared_ = nullptr;
  std::vector<std::int64_t> number_of_;  ///< of the hosts in the declared network
  Links on_route_;
  std::vector<std::int32_t> links_;
  int compared_ = 0;
};

}  // namespace dadsim::sim
