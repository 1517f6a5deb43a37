#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "collectives/rounds.hpp"
#include "sim/platform/build/link_properties.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// A protocol for messages over nvlink or rdma: it starts fast for small messages, or has the full bandwidth for large
/// ones.
struct Protocol {
  collectives::Protocol name = collectives::Protocol::simple;
  double latency = 0;     ///< seconds of a message in addition to the links' latencies
  double efficiency = 1;  ///< share of the path's payload rate that messages reach
  /// Size up to which a single message uses this protocol, bytes; 0: only if the library has chosen it for the message.
  double most_bytes = std::numeric_limits<double>::infinity();
};

/// Effect of the transports on a path.
struct PathUse {
  spec::Transport transport = spec::Transport::plain;  ///< slowest kind of transport on the path, in the order tcp,
                                                       ///< rdma, nvlink, plain
  double efficiency = 1;    ///< payload ÷ wire bytes, of the link with the lowest payload rate
  double payload_rate = 0;  ///< payload rate of a message without others on its links, byte/s
  double software = 0;      ///< tcp: part of `overhead` before the transfer, seconds
  bool in_cluster = false;  ///< tcp: the whole path lies in a cluster of GPUs
  bool posts = false;       ///< rdma: software posts each message to the adapters
  double overhead = 0;  ///< seconds in addition to the links' latencies: storing and forwarding frames, and software
                        ///< (tcp)
  std::span<const Protocol> protocols;  ///< protocols of the path; empty: a message costs `overhead`

  /// Wire bytes and extra seconds of a message with a protocol. If the path lacks the protocol, the one with the full
  /// bandwidth is used.
  struct Cost {
    double wire_bytes = 0;
    double overhead = 0;  ///< seconds in addition to the transfer
  };
  /// Returns the part of `overhead` due to software, which faster links do not shorten, seconds.
  double host_software() const { return protocols.empty() ? std::min(overhead, 2 * software) : overhead; }
  /// Returns the seconds of software for a message; `post` as in cost().
  double software_of(double bytes, collectives::Protocol protocol, double post) const;
  /// Returns the bytes that a tcp connection carries per byte of payload.
  double carried(collectives::Protocol protocol) const;
  /// Returns the cost of a message. `post`: seconds that adapters spend on it in addition to its bytes, counted as
  /// bytes on the wire.
  Cost cost(double bytes, collectives::Protocol protocol = collectives::Protocol::by_message, double post = 0) const;
};

/// A link of a path, as input of `path_use`.
struct PathLink {
  double bandwidth = 0;  ///< byte/s, nominal
  const LinkProperties* use = nullptr;
};

PathUse path_use(std::span<const PathLink> links);

namespace tcp {
inline constexpr double kSegment =
    1448;                               ///< payload of a frame, bytes: MTU 1500 less IP and TCP headers with timestamps
inline constexpr double kFrame = 1514;  ///< bytes of a full Ethernet frame
inline constexpr double kInitialWindow = 10 * kSegment;  ///< bytes a cold connection may send at once (RFC 6928)
}  // namespace tcp

}  // namespace dadsim::sim
