#include "sim/tcp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/transport.hpp"

namespace dadsim::tcp {
namespace {

constexpr double acknowledgement =
    66.0 / (2 * frame);                    // bytes of acknowledgements per byte of data: one per two frames
constexpr double kept_window = 1.1;        // window after losses, in queues of the tightest link
constexpr double window_growth = 0.15;     // n competing connections keep n^0.15 times the window of one
constexpr double opposite_filling = 0.73;  // of the opposite queue, which acknowledgements wait behind
constexpr double corner = 4;               // sharpness of the corner between limited by bandwidth and by window
constexpr double recovery = 2.5;           // round trips lost on each shared link that overflows
constexpr double overflow_width = 0.5;     // queues of backlog from where an overflow begins to where it counts in full
constexpr double matching_loss = 0.16;     // of the bandwidth, of flows that share both ends
constexpr double alike = 1.001;            // rates within this factor count as equal

constexpr double endless = std::numeric_limits<double>::infinity();

double share_of(const LinkState& link) { return link.rate / link.connections; }
double waiting(const LinkState& link) { return link.backlog / link.efficiency; }

/// What all links of the path together say about it.
struct Outlook {
  double share = endless;  ///< byte/s
  bool opposed = false;    ///< data the other way on the slowest link
  double filling = 0;      ///< of the fullest shared queue, 0…1
  double queue = endless;  ///< bytes: of the tightest link (of several, of that with the least queue for each)
  double sharers = 1;      ///< there
  double burst = endless;  ///< bytes that pass without a loss
};

Outlook look(std::span<const LinkState> path, bool cold) {
  Outlook outlook;
  double slowest = endless;
  for (const LinkState& link : path) slowest = std::min(slowest, link.rate);
  for (const LinkState& link : path) {
    outlook.share = std::min(outlook.share, share_of(link));
    outlook.opposed = outlook.opposed || (link.opposite_in_use && link.rate < alike * slowest);
    if (link.connections > 1) outlook.filling = std::max(outlook.filling, std::min(1.0, waiting(link) / link.queue));
  }
  for (const LinkState& link : path) {  // a link that is never full loses nothing, however many share it
    if (share_of(link) > alike * outlook.share) continue;
    if (link.queue / link.connections < outlook.queue / outlook.sharers) {
      outlook.queue = link.queue;
      outlook.sharers = link.connections;
    }
  }
  if (!cold) outlook.burst = outlook.queue / outlook.sharers;
  return outlook;
}

/// Bytes to transfer for `bytes`, were `rate` the share of the connection.
double transferred(std::span<const LinkState> path, const Outlook& outlook, double bytes, double round_trip,
                   double rate) {
  double both_ends = 0;  // 2: both ends equally contended
  for (const LinkState& link : path) {
    if (link.connections > 1) both_ends += std::pow(std::min(1.0, rate / share_of(link)), 2);
  }
  double result = bytes;
  if (bytes > outlook.burst) {
    const double needed =
        rate * outlook.sharers * round_trip + (outlook.opposed ? opposite_filling * outlook.queue : 0);
    const double kept = kept_window * outlook.queue * std::pow(outlook.sharers, window_growth);
    const double slower = std::pow(1 + std::pow(needed / kept, corner), 1 / corner);
    result = outlook.burst + (bytes - outlook.burst) * slower;
  }
  return result *
         (1 + (outlook.opposed ? acknowledgement : 0) + matching_loss * outlook.filling * std::max(0.0, both_ends - 1));
}

}  // namespace

Fare fare(std::span<const LinkState> path, double bytes, double round_trip, bool cold) {
  const Outlook outlook = look(path, cold);
  Fare result;
  result.share = outlook.share;
  while (result.tightest + 1 < path.size() && share_of(path[result.tightest]) > alike * outlook.share)
    ++result.tightest;
  if (!(bytes > 0)) return result;
  result.inflation = transferred(path, outlook, bytes, round_trip, outlook.share) / bytes;
  if (cold) return result;
  // A tight link hides what happens on a loose one: the longest counts, not the sum.
  for (const LinkState& link : path) {
    const double rate = share_of(link);
    const double first_answer = bytes > outlook.burst ? std::max(0.0, round_trip - outlook.burst / rate) : 0;
    double repair = 0;
    for (const LinkState& other : path) {
      if (other.connections <= 1 || share_of(other) > alike * rate) continue;
      // Of a connection with many messages in line each takes its part of the repair: that of its part of the queue.
      const double part = std::min(1.0, bytes / (other.queue / other.connections));
      repair += part * recovery * round_trip *
                std::clamp((waiting(other) - other.queue) / (overflow_width * other.queue), 0.0, 1.0);
    }
    if (bytes <= outlook.burst && repair == 0) continue;  // nothing but sharing holds it up
    result.floor = std::max(
        result.floor, transferred(path, outlook, bytes, round_trip, rate) / rate + std::max(first_answer, repair));
  }
  return result;
}

}  // namespace dadsim::tcp
