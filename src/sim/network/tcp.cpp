#include "sim/network/tcp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/network/tcp_constants.csv.hpp"
#include "sim/network/transport.hpp"

namespace dadsim::sim::tcp {
namespace {

constexpr double kAcknowledgement =
    66.0 / (2 * kFrame);          // bytes of acknowledgements per byte of data: one per two frames
constexpr double kAlike = 1.001;  // rates within this factor count as equal

constexpr double kEndless = std::numeric_limits<double>::infinity();

double share_of(const LinkState& link) { return link.rate / link.connections; }
double waiting(const LinkState& link) { return link.backlog / link.efficiency; }

/// What all links of the path together say about it.
struct Outlook {
  double share = kEndless;  ///< byte/s
  bool opposed = false;     ///< data the other way on the slowest link
  double filling = 0;       ///< of the fullest shared queue, 0…1
  double queue = kEndless;  ///< bytes: of the link with the least queue for each that bursts overflow
  double sharers = 1;       ///< there
  double burst = kEndless;  ///< bytes that pass without a loss
  double kept = kEndless;   ///< bytes: the window after losses, of all that share it
  std::size_t narrow = 0;   ///< the link whose queue that is
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
  // A burst overflows the link that it meets first, and each that is narrower than what feeds it. That may be one that
  // is loose on average: a hub's line, over which it answers all at once.
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
  // In slow start half of a window is in the queue at the end of a round trip, and the windows before it are as large.
  outlook.burst = (cold ? fitted().cold_burst : 1) * outlook.queue / outlook.sharers;
  outlook.kept = (cold ? fitted().cold_window : fitted().kept_window) * outlook.queue;
  return outlook;
}

/// Bytes to transfer for `bytes`, were `rate` the share of the connection. `longer`, if given, gets by how many times
/// windows make that more.
double transferred(std::span<const LinkState> path, const Outlook& outlook, double bytes, double round_trip,
                   double rate, double* longer = nullptr) {
  double both_ends = 0;  // 2: both ends equally contended
  for (const LinkState& link : path) {
    if (link.connections > 1) both_ends += std::pow(std::min(1.0, rate / share_of(link)), 2);
  }
  double result = bytes;
  if (bytes > outlook.burst) {
    const double needed =
        rate * outlook.sharers * round_trip + (outlook.opposed ? fitted().opposite_filling * outlook.queue : 0);
    // Where every message of S segments begins with a burst that loses some of it, its n round trips begin with 0.7
    // (cubic) of the window that the one before ended with, and each adds 0.53 segments (RFC 9438, equation 4): the
    // window begins with 1.24 n, S = 1.5 n², and the mean is S / n = 1.225 √S.
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
  // Acknowledgements find room where connections leave some.
  if (most < outlook.share) outlook.opposed = false;
  while (result.tightest + 1 < path.size() && share_of(path[result.tightest]) > kAlike * outlook.share)
    ++result.tightest;
  if (!(bytes > 0)) return result;
  double longer = 1;
  result.inflation = transferred(path, outlook, bytes, round_trip, result.share, &longer) / bytes;
  result.waiting = 1 - 1 / longer;
  result.queue = outlook.narrow;
  if (cold) return result;
  // A tight link hides what happens on a loose one: the longest counts, not the sum.
  for (const LinkState& link : path) {
    const double rate = std::min(share_of(link), most);
    const double first_answer = bytes > outlook.burst ? std::max(0.0, round_trip - outlook.burst / rate) : 0;
    double repair = 0;
    for (const LinkState& other : path) {
      if (!other.drops || other.connections <= 1 || share_of(other) > kAlike * share_of(link)) continue;
      // Each message of a connection with many in line takes a part of the repair: as large as its part of the queue.
      const double part = std::min(1.0, bytes / (other.queue / other.connections));
      const double seconds =
          fitted().recovery * round_trip - fitted().cushion * other.queue * other.efficiency / other.rate;
      repair += part * std::max(0.0, seconds) *
                std::clamp((waiting(other) - other.queue) / (fitted().overflow_width * other.queue), 0.0, 1.0);
    }
    if (bytes <= outlook.burst && repair == 0) continue;  // nothing but sharing holds it up
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
