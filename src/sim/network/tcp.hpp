#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace dadsim::sim::tcp {

/// Fitted constants; tcp_constants.csv explains each.
struct Fitted {
  double software = 0, cluster_software = 0;  ///< seconds of software per message
  double kept_window = 0, cold_window = 0, cold_burst = 0, grown_window = 0, opposite_filling = 0, corner = 0,
         recovery = 0, cushion = 0, overflow_width = 0, matching_loss = 0;
};
const Fitted& fitted();

/// A link of a connection's path when a message starts.
struct LinkState {
  double rate = 0;               ///< byte/s of payload
  double queue = 0;              ///< bytes on the wire
  double efficiency = 1;         ///< payload ÷ bytes on the wire
  double connections = 1;        ///< number of connections with a message in flight on the link, including this one
  double backlog = 0;            ///< payload written and not yet transferred, including this message, bytes
  bool opposite_in_use = false;  ///< true: connections have data in the other direction
  /// True: packets that exceed the queue are lost. False on InfiniBand, NVLink and plain links, and where the rate
  /// already includes losses.
  bool drops = true;
};

/// Costs of a message's transfer.
struct TransferCost {
  double share = 0;          ///< fair share of the tightest link, or the connection's limit if that is less, byte/s of
                             ///< payload
  double inflation = 1;      ///< bytes to transfer ÷ bytes of the message
  double floor = 0;          ///< least duration of the transfer, seconds
  std::size_t tightest = 0;  ///< index of the path's link with the least share, the first of equals
  double waiting = 0;        ///< share of the transfer's time due to windows and losses, 0…1
  std::size_t queue = 0;     ///< index of the path's link with the queue that overflows
};

/// Returns corrections to the fair sharing of a fluid model, fitted to real TCP transfers (docs/validation.md). A
/// message becomes one transfer of somewhat more bytes, with a least duration:
///
///  - acknowledgements share links that carry data both ways;
///  - a message larger than its connection's share of a queue begins with a burst that overflows it, and is sent window
///    by window. If the bandwidth-delay product (with the wait of acknowledgements in the opposite queue) exceeds the
///    window after losses, the window limits the rate;
///  - where connections overflow the queue of a link, losses are detected and repaired within round trips, while the
///    link works off its queue;
///  - flows that share both their ends with others do not match up perfectly, and links stand idle.
///
/// A single one-way connection that fits into the queue needs no correction: latency plus bytes over rate. A cold
/// connection has not had a loss yet. `round_trip`: that of an idle network, seconds. `most`: limit of a connection's
/// rate, byte/s.
TransferCost transfer_cost(std::span<const LinkState> path, double bytes, double round_trip, bool cold,
                           double most = std::numeric_limits<double>::infinity());

}  // namespace dadsim::sim::tcp
