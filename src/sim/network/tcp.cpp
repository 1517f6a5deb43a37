#include "sim/network/tcp.hpp"

#include <algorithm>
#include <cmath>

#include "sim/network/tcp_constants.csv.hpp"
#include "sim/network/transport.hpp"

namespace dadsim::sim::tcp {
namespace {

constexpr double kAcknowledgement = 66.0 / (2 * kFrame);  // acknowledgement bytes per byte of data: one per two frames
constexpr double kAlike = 1.001;                          // factor within which rates count as equal

constexpr double kEndless = std::numeric_limits<double>::infinity();

double share_of(const LinkState& link) { return link.rate / link.connections; }
double waiting(const LinkState& link) { return link.backlog / link.efficiency; }

/// Summary of all links of the path.
struct Outlook {
  double share = kEndless;  ///< least fair share of all links, byte/s
  bool opposed = false;     ///< true: the slowest link has data in the opposite direction
  double filling = 0;       ///< used share of the fullest shared queue, 0…1
  double queue = kEndless;  ///< queue of the link with the least queue per connection, among links that overflow, bytes
  double sharers = 1;       ///< number of connections on the link of `queue`
  double burst = kEndless;  ///< largest burst that passes without a loss, bytes
  double kept = kEndless;   ///< window after losses, summed over all connections that share the queue, bytes
  std::size_t narrow = 0;   ///< index of the link of `queue`
};

Outlook look(std::span<const LinkState> path, bool cold) {
  Outlook outlook;
  double slowest = kEndless;
  for (const LinkState& link : path) slowest = std::min(slowest, link.rate);
  for (const LinkState& link : path) {
    outlook.share = std::min(outlook.share, share_of(link));
    outlook.opposed = outlook.opposed || (link.opposite_in_use && link.rate < kAlike * slowest);
    if (link.connections > 1 && link.drops)
      outlook.filling = std::max(outlook.filling, std::min(1.0, waiting(link) / link.queue));
  }
  // Assumes that a burst overflows the first link, and each link narrower than the one that feeds it. On average such a
  // link may have free bandwidth, for example a hub's line when the hub answers all sites at once.
  double feed = kEndless;
  for (const LinkState& link : path) {
    const bool floods = feed * link.connections > kAlike * link.rate;
    feed = link.rate;
    if (!link.drops || (!floods && share_of(link) > kAlike * outlook.share)) continue;
    if (link.queue / link.connections < outlook.queue / outlook.sharers) {
      outlook.queue = link.queue;
      outlook.sharers = link.connections;
      outlook.narrow = static_cast<std::size_t>(&link - path.data());
    }
  }
  // Takes the connection's share of the queue as burst, with a fitted factor for cold connections. In slow start, half
  // of a window is in the queue at the end of a round trip, and the previous windows sum to as much.
  outlook.burst = (cold ? fitted().cold_burst : 1) * outlook.queue / outlook.sharers;
  outlook.kept = (cold ? fitted().cold_window : fitted().kept_window) * outlook.queue;
  return outlook;
}

/// Returns the bytes to transfer for `bytes`, if `rate` is the connection's share. `longer`, if not null, receives the
/// factor due to windows.
double transferred(std::span<const LinkState> path, const Outlook& outlook, double bytes, double round_trip,
                   double rate, double* longer = nullptr) {
  double both_ends = 0;  // contention at both ends; 2: both ends equally contended
  for (const LinkState& link : path) {
    if (link.connections > 1) both_ends += std::pow(std::min(1.0, rate / share_of(link)), 2);
  }
  double result = bytes;
  if (bytes > outlook.burst) {
    const double needed =
        rate * outlook.sharers * round_trip + (outlook.opposed ? fitted().opposite_filling * outlook.queue : 0);
    // Assumes that every message of S segments begins with a burst and a loss. Its n round trips begin with 0.7 (cubic)
    // of the previous message's last window, and each adds 0.53 segments (RFC 9438, equation 4). The window then begins
    // with 1.24 n, S = 1.5 n², and its mean is S / n = 1.225 √S.
    const double grown = fitted().grown_window * outlook.sharers * std::sqrt(bytes * kSegment);
    const double kept = std::max(outlook.kept, grown);
    const double slower = std::pow(1 + std::pow(needed / kept, fitted().corner), 1 / fitted().corner);
    result = outlook.burst + (bytes - outlook.burst) * slower;
  }
  if (longer != nullptr) *longer = result / bytes;
  return result * (1 + (outlook.opposed ? kAcknowledgement : 0) +
                   fitted().matching_loss * outlook.filling * std::max(0.0, both_ends - 1));
}

}  // namespace

TransferCost transfer_cost(std::span<const LinkState> path, double bytes, double round_trip, bool cold, double most) {
  Outlook outlook = look(path, cold);
  TransferCost result;
  result.share = std::min(outlook.share, most);
  // Ignores acknowledgements if connections leave bandwidth free.
  if (most < outlook.share) outlook.opposed = false;
  while (result.tightest + 1 < path.size() && share_of(path[result.tightest]) > kAlike * outlook.share)
    ++result.tightest;
  if (!(bytes > 0)) return result;
  double longer = 1;
  result.inflation = transferred(path, outlook, bytes, round_trip, result.share, &longer) / bytes;
  result.waiting = 1 - 1 / longer;
  result.queue = outlook.narrow;
  if (cold) return result;
  // Takes the longest delay of all links, not the sum, because a tight link hides delays of others.
  for (const LinkState& link : path) {
    const double rate = std::min(share_of(link), most);
    const double first_answer = bytes > outlook.burst ? std::max(0.0, round_trip - outlook.burst / rate) : 0;
    double repair = 0;
    for (const LinkState& other : path) {
      if (!other.drops || other.connections <= 1 || share_of(other) > kAlike * share_of(link)) continue;
      // Divides the repair among the messages of a connection with many in line, in proportion to their share of the
      // queue.
      const double part = std::min(1.0, bytes / (other.queue / other.connections));
      const double seconds =
          fitted().recovery * round_trip - fitted().cushion * other.queue * other.efficiency / other.rate;
      repair += part * std::max(0.0, seconds) *
                std::clamp((waiting(other) - other.queue) / (fitted().overflow_width * other.queue), 0.0, 1.0);
    }
    if (bytes <= outlook.burst && repair == 0) continue;  // nothing but sharing delays this message
    result.floor = std::max(
        result.floor, transferred(path, outlook, bytes, round_trip, rate) / rate + std::max(first_answer, repair));
  }
  return result;
}

const Fitted& fitted() {
  static const auto kFitted =
      read_constants<Fitted>(tables::kTcpConstants, {{"software", &Fitted::software},
                                                     {"cluster software", &Fitted::cluster_software},
                                                     {"kept window", &Fitted::kept_window},
                                                     {"cold window", &Fitted::cold_window},
                                                     {"cold burst", &Fitted::cold_burst},
                                                     {"grown window", &Fitted::grown_window},
                                                     {"opposite filling", &Fitted::opposite_filling},
                                                     {"corner", &Fitted::corner},
                                                     {"recovery", &Fitted::recovery},
                                                     {"cushion", &Fitted::cushion},
                                                     {"overflow width", &Fitted::overflow_width},
                                                     {"matching loss", &Fitted::matching_loss}});
  return kFitted;
}

}  // namespace dadsim::sim::tcp
