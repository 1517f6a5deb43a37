#pragma once

#include <compare>
#include <string>

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// How a link is used.
struct LinkProperties {
  spec::Transport transport = spec::Transport::plain;
  double efficiency = 1;                                   ///< share of the bandwidth that payload reaches
  double queue_bytes = 3e5;                                ///< tcp: buffer in front of the link
  std::string link_class;                                  ///< catalogue entry; may be empty
  spec::MessageCosts costs = spec::MessageCosts::network;  ///< rdma: the table that messages go by
  bool adds_up = false;       ///< an adapter on a fabric whose switches can sum (InfiniBand SHARP)
  bool rccl = false;          ///< an adapter that AMD's library drives, not NVIDIA's
  bool is_goodput = false;    ///< tcp: the bandwidth is what transfers were measured to get; nothing is lost
  double per_connection = 0;  ///< goodput: byte/s of one connection; 0: its window per round trip
  bool in_cluster = false;    ///< tcp: as LinkSpec::in_cluster
  auto operator<=>(const LinkProperties&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy looks into it
};

}  // namespace dadsim::sim
