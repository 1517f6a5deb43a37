#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/interconnect.hpp"
#include "sim/platform/build/cluster_network.hpp"

namespace dadsim::sim {

/// Paths between ranks, for so many pairs that keeping a Path of each would take too much memory. A declared platform
/// is asked for its network directly, which is ten times as fast as SimGrid with equal results (some are compared). For
/// other platforms Interconnect::path gives the paths.
class FlowRoutes {
 public:
  FlowRoutes(Interconnect& network, const std::vector<simgrid::s4u::Host*>& hosts);

  /// Returns the links from host to host as indices of the interconnect. Hosts are given by their numbers in `hosts`.
  /// Valid until the next call.
  const std::vector<std::int32_t>& links(std::size_t from, std::size_t to);

  /// Returns whether the latency of every path is the sum of its links' latencies.
  bool are_links_alone() const { return declared_ != nullptr; }

 private:
  Interconnect& network_;
  const std::vector<simgrid::s4u::Host*>& hosts_;
  const ClusterNetwork* declared_ = nullptr;
  std::vector<std::int64_t> number_of_;  ///< number of each host in the declared network
  Links on_route_;
  std::vector<std::int32_t> links_;
  int compared_ = 0;
};

}  // namespace dadsim::sim
