#pragma once

#include <compare>
#include <string>

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Properties of a link that determine how messages use it.
struct LinkProperties {
  spec::Transport transport = spec::Transport::plain;
  double efficiency = 1;                                   ///< share of the bandwidth that payload reaches
  double queue_bytes = 3e5;                                ///< tcp: bytes of the link's queue
  std::string link_class;                                  ///< class in the catalogue; may be empty
  spec::MessageCosts costs = spec::MessageCosts::network;  ///< rdma: name of the table of message costs
  bool adds_up = false;       ///< true: an adapter on a fabric with switches that can sum (InfiniBand SHARP)
  bool rccl = false;          ///< true: an adapter driven by AMD's library instead of NVIDIA's
  bool is_goodput = false;    ///< tcp: the bandwidth is the measured throughput of transfers; nothing is lost
  double per_connection = 0;  ///< goodput: byte/s of one connection; 0: limited by its window per round trip
  bool in_cluster = false;    ///< tcp: see LinkSpec::in_cluster
  auto operator<=>(const LinkProperties&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy looks into it
};

}  // namespace dadsim::sim
