#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spec/names.hpp"

namespace dadsim::collectives {

using Rank = std::int32_t;

/// A message of a collective, as one of its ends sees it.
struct Transfer {
  Rank peer = 0;
  double bytes = 0;
  /// Messages of a pair with different channels use different connections, and share a line like messages of different
  /// pairs.
  std::int32_t channel = 0;
  static constexpr unsigned kChannelBits = 12;  ///< bits of a channel's number
  bool operator==(const Transfer&) const = default;
};

/// Format of a message's bytes. NCCL and RCCL choose it once per collective.
enum class Protocol : std::uint8_t {
  by_message,  ///< for each message the quickest one
  ll,          ///< a flag with every 4 of 8 bytes: quick to start, half of the bandwidth
  ll128,       ///< a flag with every 120 of 128 bytes
  simple,      ///< bytes and then a flag: all of the bandwidth
};
constexpr auto names_of(Protocol) {
  using enum Protocol;
  return std::to_array<spec::Name<Protocol>>({{by_message, ""}, {ll, "LL"}, {ll128, "LL128"}, {simple, "Simple"}});
}
using spec::to_string;

/// Consecutive rounds of one kind.
struct RoundPhase {
  std::int64_t first = 0;  ///< round
  std::int64_t rounds = 1;
  /// Every round of the phase has the same pairs with the same bytes: the first round represents all.
  bool uniform = true;
};

/// Timing rules by which a rank passes through the rounds.
struct Pace {
  /// Handshake of a message: sent at once (eager), or after the receiver has entered the round and sent a ready
  /// message.
  enum class Handshake { eager, rendezvous, rendezvous_after_sending };
  std::int64_t in_flight = 1;  ///< rounds that a rank may be in simultaneously
  Handshake handshake = Handshake::eager;
  std::int64_t part = 0;     ///< a rank completes each group of this many rounds before it continues; 0: no groups
  std::int32_t at_once = 1;  ///< collectives of the library that a rank may run concurrently
};

/// Sizes of a round that follows a pattern. Rounds of the same pattern have the same pairs, in every lane.
struct RoundSizes {
  std::int64_t pattern = 0;   ///< from 0 on
  std::vector<double> bytes;  ///< per kind of pair (Rounds::kind_of()): bytes of each of its messages in this round
};

/// A collective laid out for its ranks and sizes. A rank enters the rounds in order, each when it is through with the
/// one that lies pace().in_flight before: in each it hands its messages to the network, which takes them at once (or as
/// soon as their receivers have said that they are ready), and is through when they have left and all messages
/// addressed to it in this round have arrived. A rank without messages in a round passes through it. Messages of a pair
/// and a channel keep their order. What a rank sends in a round may depend on what it received in rounds that it is
/// through with.
///
/// Messages are generated on demand: nothing here is as large as ranks × rounds.
class Rounds {
 public:
  virtual ~Rounds() = default;
  Rounds() = default;
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  virtual Rank ranks() const = 0;
  virtual std::int64_t count() const = 0;
  /// Number of lanes: parts of the collective that proceed in parallel without waiting for one another (NCCL's
  /// channels). A rank passes through the rounds once in each lane. Lanes in step add up to `sends` and `receives`.
  virtual Rank lanes() const { return 1; }
  /// Appends what `rank` sends in `round`, at most one message per peer, never to itself.
  virtual void sends(Rank rank, std::int64_t round, std::vector<Transfer>& out) const = 0;
  /// Appends what `rank` receives in `round`: exactly the messages that the others send to it.
  virtual void receives(Rank rank, std::int64_t round, std::vector<Transfer>& out) const = 0;
  /// The rounds in order, none left out.
  virtual std::vector<RoundPhase> phases() const = 0;
  virtual Pace pace() const { return {}; }
  /// Returns true if the round follows a pattern, and sets its sizes. A caller that knows the pattern's pairs need not
  /// query those of the round.
  virtual bool sizes_of(std::int64_t /*round*/, RoundSizes& /*out*/) const { return false; }
  /// Returns the kind of a pair in rounds of a pattern, from 0 on.
  virtual std::int32_t kind_of(Rank /*from*/, Rank /*to*/) const { return 0; }
  /// Append what `rank` sends or receives in one lane: at most one message per peer and channel. The lanes together,
  /// per peer, are the messages of sends and receives.
  virtual void lane_sends(Rank rank, Rank, std::int64_t round, std::vector<Transfer>& out) const {
    sends(rank, round, out);
  }
  virtual void lane_receives(Rank rank, Rank, std::int64_t round, std::vector<Transfer>& out) const {
    receives(rank, round, out);
  }

  /// Returns the largest share of the narrowest line between two ranks for a message of one lane. A channel has its
  /// part of a port, even if other channels are idle.
  virtual double lane_share(Rank, Rank) const { return 1; }

  /// Seconds from a rank's call to its first message: start of a kernel, prior work of the library, and known losses of
  /// its messages.
  double start_seconds() const { return start_seconds_; }
  void set_start_seconds(double seconds) { start_seconds_ = seconds; }
  /// Seconds of start_seconds that messages lose of the bandwidth; faster links save them.
  double lost_seconds() const { return lost_seconds_; }
  void set_lost_seconds(double seconds) { lost_seconds_ = seconds; }

  /// Protocol of the messages on paths that have protocols.
  Protocol protocol() const { return protocol_; }
  void set_protocol(Protocol protocol) { protocol_ = protocol; }

  /// Seconds for which a connection between nodes over sockets is busy with each message before its bytes leave, since
  /// one thread posts the pieces of all channels. Over RDMA: for which the adapter is busy while kernels compute.
  double post_seconds() const { return post_seconds_; }
  void set_post_seconds(double seconds) { post_seconds_ = seconds; }

 private:
  double start_seconds_ = 0, lost_seconds_ = 0, post_seconds_ = 0;
  Protocol protocol_ = Protocol::by_message;
};

}  // namespace dadsim::collectives
