#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spec/names.hpp"

namespace dadsim::collectives {

using Rank = std::int32_t;

/// A message of a collective, seen from one of its ends.
struct Transfer {
  Rank peer = 0;
  double bytes = 0;
  /// Number of the connection that carries the message. Connections of one pair share a line like connections of
  /// different pairs.
  std::int32_t channel = 0;
  static constexpr unsigned kChannelBits = 12;  ///< bits of a channel's number, at most
  bool operator==(const Transfer&) const = default;
};

/// Format of a message's bytes. NCCL and RCCL choose it once per collective.
enum class Protocol : std::uint8_t {
  by_message,  ///< the fastest protocol for each message
  ll,          ///< 4 bytes of data and a flag in every 8: low latency, half of the bandwidth
  ll128,       ///< 120 bytes of data and a flag in every 128
  simple,      ///< all bytes, then one flag: full bandwidth
};
constexpr auto names_of(Protocol) {
  using enum Protocol;
  return std::to_array<spec::Name<Protocol>>({{by_message, ""}, {ll, "LL"}, {ll128, "LL128"}, {simple, "Simple"}});
}
using spec::to_string;

/// Consecutive rounds that belong together.
struct RoundPhase {
  std::int64_t first = 0;  ///< number of the first round
  std::int64_t rounds = 1;
  /// True if every round of the phase has the same pairs with the same bytes, so that the first represents all.
  bool uniform = true;
};

/// Rules that determine when a rank enters a round.
struct Pace {
  /// Handshake of a message: sent at once (eager), or after the receiver has entered the round and sent a ready
  /// message.
  enum class Handshake { eager, rendezvous, rendezvous_after_sending };
  std::int64_t in_flight = 1;  ///< rounds that a rank may be in simultaneously
  Handshake handshake = Handshake::eager;
  std::int64_t part = 0;     ///< rounds of a group that a rank completes before it continues; 0: no groups
  std::int32_t at_once = 1;  ///< collectives of the library that a rank may run concurrently
};

/// Sizes of a round that follows a pattern. Rounds of the same pattern have the same pairs, in every lane.
struct RoundSizes {
  std::int64_t pattern = 0;   ///< number of the pattern, from 0
  std::vector<double> bytes;  ///< per kind of pair (Rounds::kind_of()): bytes of each of its messages in this round
};

/// A collective laid out for its ranks and sizes. A rank enters the rounds in order; it enters a round when it has
/// completed the round pace().in_flight before. On entry it posts its messages, which are sent at once, or once their
/// receivers have sent ready messages. A rank completes a round when these messages have left, and all messages to it
/// in this round have arrived. Without messages it completes the round at once. Messages of a pair and channel keep
/// their order. Data sent in a round may depend on data received in completed rounds.
///
/// Messages are generated on demand, because a table of ranks × rounds would be too large.
class Rounds {
 public:
  virtual ~Rounds() = default;
  Rounds() = default;
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  virtual Rank ranks() const = 0;
  virtual std::int64_t count() const = 0;
  /// Returns the number of lanes: parts of the collective that proceed in parallel without waiting for each other
  /// (NCCL's channels). A rank passes through the rounds once in each lane. Without this distinction, sends() and
  /// receives() return the messages of all lanes.
  virtual Rank lanes() const { return 1; }
  /// Appends the messages that `rank` sends in `round`, at most one per peer, never to itself.
  virtual void sends(Rank rank, std::int64_t round, std::vector<Transfer>& out) const = 0;
  /// Appends the messages that `rank` receives in `round`: exactly those that other ranks send to it.
  virtual void receives(Rank rank, std::int64_t round, std::vector<Transfer>& out) const = 0;
  /// Returns phases that cover all rounds in order.
  virtual std::vector<RoundPhase> phases() const = 0;
  virtual Pace pace() const { return {}; }
  /// Returns true and sets the sizes if the round follows a pattern. A caller that knows the pattern's pairs need not
  /// query this round's messages.
  virtual bool sizes_of(std::int64_t /*round*/, RoundSizes& /*out*/) const { return false; }
  /// Returns the kind of a pair, from 0 on: the index in RoundSizes::bytes.
  virtual std::int32_t kind_of(Rank /*from*/, Rank /*to*/) const { return 0; }
  /// Append the messages that `rank` sends, or receives, in one lane: at most one per peer and channel. Summed over
  /// lanes, they equal those of sends() and receives().
  virtual void lane_sends(Rank rank, Rank, std::int64_t round, std::vector<Transfer>& out) const {
    sends(rank, round, out);
  }
  virtual void lane_receives(Rank rank, Rank, std::int64_t round, std::vector<Transfer>& out) const {
    receives(rank, round, out);
  }

  /// Returns the largest share of the narrowest line between two ranks that a message of one lane can use. A channel
  /// cannot use more than its part of a port, even if other channels are idle.
  virtual double lane_share(Rank, Rank) const { return 1; }

  /// Seconds from a rank's call to its first message: kernel start, work of the library, and known losses of messages.
  double start_seconds() const { return start_seconds_; }
  void set_start_seconds(double seconds) { start_seconds_ = seconds; }
  /// Seconds in start_seconds that stand for lost bandwidth; faster links make them shorter.
  double lost_seconds() const { return lost_seconds_; }
  void set_lost_seconds(double seconds) { lost_seconds_ = seconds; }

  /// Protocol of the messages on paths that support protocols.
  Protocol protocol() const { return protocol_; }
  void set_protocol(Protocol protocol) { protocol_ = protocol; }

  /// Seconds per message before its bytes leave. Over sockets between nodes the connection is busy, because one thread
  /// posts the pieces of all channels. Over RDMA the adapter is busy while kernels compute.
  double post_seconds() const { return post_seconds_; }
  void set_post_seconds(double seconds) { post_seconds_ = seconds; }

 private:
  double start_seconds_ = 0, lost_seconds_ = 0, post_seconds_ = 0;
  Protocol protocol_ = Protocol::by_message;
};

}  // namespace dadsim::collectives
