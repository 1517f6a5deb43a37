#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/platform/build/link_properties.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// A way of sending a message over nvlink or rdma: small messages take one that is quick to start, large ones one that
/// uses the bandwidth.
struct Protocol {
  collectives::Protocol name = collectives::Protocol::simple;
  double latency = 0;     ///< seconds a message takes beside the links' latencies
  double efficiency = 1;  ///< share of the path's payload rate
  /// Bytes of a message by itself up to which it takes this protocol; 0: only where the library has chosen it.
  double most_bytes = std::numeric_limits<double>::infinity();
};

/// What the transports make of a path.
struct PathUse {
  spec::Transport transport = spec::Transport::plain;  ///< the slowest kind on it: tcp, else rdma, nvlink, plain
  double efficiency = 1;    ///< wire bytes = payload ÷ this: of the link with the lowest payload rate
  double payload_rate = 0;  ///< byte/s of a message that is alone
  double software = 0;      ///< tcp: seconds of the overhead that come before the transfer
  bool in_cluster = false;  ///< tcp: all of it lies in a cluster of GPUs
  bool posts = false;       ///< rdma: by adapters, to which software posts each message
  double overhead = 0;      ///< seconds beside the links' latencies: frames stored and forwarded, software (tcp)
  std::span<const Protocol> protocols;  ///< empty: a message takes `overhead`

  /// Wire bytes and extra seconds of a message of this size by a protocol: where the path lacks it by the one that uses
  /// all of the bandwidth.
  struct Cost {
    double wire_bytes = 0;
    double overhead = 0;  ///< seconds
  };
  /// Seconds of `overhead` that software takes: faster links leave them as they are.
  double host_software() const { return protocols.empty() ? std::min(overhead, 2 * software) : overhead; }
  /// Seconds that software takes for a message; `post` as in cost().
  double software_of(double bytes, collectives::Protocol protocol, double post) const;
  /// tcp: bytes of the connection per byte of payload.
  double carried(collectives::Protocol protocol) const;
  /// `post`: seconds for which adapters are busy with a message beside its bytes, which count as bytes on the wire.
  Cost cost(double bytes, collectives::Protocol protocol = collectives::Protocol::by_message, double post = 0) const;
};

/// A link of a path as `path_use` needs it.
struct PathLink {
  double bandwidth = 0;  ///< byte/s, nominal
  const LinkProperties* use = nullptr;
};

PathUse path_use(std::span<const PathLink> links);

namespace tcp {
inline constexpr double kSegment =
    1448;  ///< bytes of payload in a frame: MTU 1500 less IP and TCP headers with timestamps
inline constexpr double kFrame = 1514;                   ///< bytes of a full Ethernet frame
inline constexpr double kInitialWindow = 10 * kSegment;  ///< bytes a cold connection may send at once (RFC 6928)
}  // namespace tcp

}  // namespace dadsim::sim
