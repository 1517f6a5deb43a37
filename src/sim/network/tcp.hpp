#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace dadsim::sim::tcp {

/// What was fitted, of tcp_constants.csv, where each has its meaning.
struct Fitted {
  double software = 0, cluster_software = 0;  ///< seconds
  double kept_window = 0, cold_window = 0, cold_burst = 0, grown_window = 0, opposite_filling = 0, corner = 0,
         recovery = 0, cushion = 0, overflow_width = 0, matching_loss = 0;
};
const Fitted& fitted();

/// A link of a connection's path at the instant at which a message starts.
struct LinkState {
  double rate = 0;               ///< byte/s of payload
  double queue = 0;              ///< bytes of the wire
  double efficiency = 1;         ///< payload ÷ wire
  double connections = 1;        ///< that have something under way on it, this one included
  double backlog = 0;            ///< bytes of payload written and not yet through, this message included
  bool opposite_in_use = false;  ///< connections have something under way in the other direction
  /// What its queue does not hold is lost: not so on InfiniBand, NVLink and plain links, and where losses are in the
  /// rate already.
  bool drops = true;
};

/// How a message fares.
struct TransferCost {
  double share = 0;          ///< byte/s of payload: the fair share of the tightest link, or what a connection gets
  double inflation = 1;      ///< bytes to transfer ÷ bytes of the message
  double floor = 0;          ///< seconds that the transfer takes at least
  std::size_t tightest = 0;  ///< the link of the path with the least share, the first of equals
  double waiting = 0;        ///< share of the transfer that windows and losses make it longer by, 0…1
  std::size_t queue = 0;     ///< the link of the path whose queue bursts overflow
};

/// What a fluid model of TCP needs beside fair sharing, fitted on real transfers (docs/validation.md). A message is one
/// transfer of somewhat more bytes than its own, and takes at least a certain time:
///
///  - acknowledgements share links that carry data both ways;
///  - a message larger than the share of a queue that its connection has begins with a burst that overflows it, and is
///    sent window by window: where the bandwidth-delay product (with the wait of the acknowledgements behind the
///    opposite queue) is above the window that losses leave, the rate is that of the window;
///  - where connections overflow the queue of a link, losses are detected and repaired, a matter of round trips, while
///    the link has its queue to work off;
///  - flows that share both their ends with others do not match up perfectly, and links stand idle.
///
/// None of it concerns a connection that is alone, one way, and within the queue: that is latency plus bytes over rate.
/// A cold connection has not met a loss yet. `round_trip` is unloaded, seconds. `most`: byte/s that a connection gets
/// at most, however loose its links are.
TransferCost transfer_cost(std::span<const LinkState> path, double bytes, double round_trip, bool cold,
                           double most = std::numeric_limits<double>::infinity());

}  // namespace dadsim::sim::tcp
