#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/rounds.hpp"
#include "support/flat_map.hpp"

namespace dadsim::sim {

/// A collective worked out for ranks that begin together, as a linear system over (max, +) that accepts other dates. A
/// rank enters a round when it is through with the one before and all awaited messages have arrived. Messages of a pair
/// follow one another, and each takes as long as when all ranks began together. (Baccelli, Cohen, Olsder, Quadrat,
/// Synchronization and Linearity, 1992.) A message costs some nanoseconds, against a microsecond for following messages
/// that share links.
///
/// Sharing of links is approximated: late ranks share links as if all ranks were there. Dates of ranks that begin
/// together are exact; doubt() bounds the error of others.
class MaxPlusRounds {
 public:
  /// Times of a message, seconds.
  struct RoundMessage {
    double before = 0;   ///< seconds from sending to the transfer, if the pair has no other message under way
    double seconds = 0;  ///< seconds of the transfer, sharing links with others
    double after = 0;    ///< seconds from the end of the transfer to the delivery
    double alone = 0;    ///< seconds of the transfer if it is alone on its links
    bool operator==(const RoundMessage&) const = default;
  };
  static constexpr std::size_t kMostMessages = 12'000'000;  ///< messages that are kept, at most; each takes 16 bytes

  // ---- building ----

  /// Clears the system for these rounds.
  void begin(const collectives::Rounds& rounds);
  /// Begins a round that occurs `times` times; add() then adds its messages.
  void add_round(std::int64_t times);
  /// Adds a message; `from` and `to`: rank · lanes + lane.
  void add(std::int32_t from, std::int32_t to, std::int32_t channel, const RoundMessage& message);
  /// Marks the system as unknown.
  void give_up();
  /// Completes the system. Ranks that began together at date 0 were done at these dates.
  void settle(const std::vector<double>& done);

  // ---- use ----

  bool is_known() const { return known_; }
  std::size_t messages() const { return messages_.size(); }
  /// Returns the seconds that ranks take if they begin together.
  double seconds() const { return seconds_; }
  /// Returns the seconds by which dates may be wrong for ranks that begin `apart` seconds apart. The error is at most
  /// `apart` plus a share of the costs of sharing, which change once messages no longer arrive together. It is also at
  /// most the time saved if no link were shared. A quarter of the whole time counts if that is more, as separate rounds
  /// may then share a link.
  double doubt(double apart) const { return std::min(apart + kSharing * saved_, std::max(saved_, 0.25 * seconds_)); }
  /// Returns the number of messages, including those of all equal rounds.
  double carried() const { return carried_; }
  /// Replaces each rank's date: its beginning becomes the date at which it is done.
  void enter(std::vector<double>& dates) const;

 private:
  static constexpr double kSharing = 0.05;
  struct MatrixEntry {
    std::int32_t from, to;  ///< rank · lanes + lane
    std::int32_t line;      ///< line of messages that follow one another
    std::int32_t kind;      ///< index in kinds_
  };
  struct SolvedRound {
    std::size_t end = 0;  ///< end of the round's messages
    std::int64_t times = 1;
  };
  class RoundPassage;
  std::int32_t kind_of(const RoundMessage& message);
  std::vector<double> pass(const std::vector<double>& dates, bool alone) const;
  /// Returns whether every rank sends one message and receives one.
  bool in_single_file(std::span<const MatrixEntry> messages, std::size_t places) const;

  bool known_ = false, full_ = false;
  collectives::Rank ranks_ = 0, lanes_ = 1;
  collectives::Pace pace_;
  double start_ = 0;  ///< seconds from a rank's beginning to its first message
  std::vector<RoundMessage> kinds_;
  FlatMap<std::int32_t> kind_of_;
  FlatMap<std::int32_t> line_of_;
  std::vector<std::size_t> used_in_;  ///< last round in which each line was used
  std::vector<MatrixEntry> messages_;
  std::vector<SolvedRound> rounds_;
  std::vector<double> correction_;  ///< seconds by which the computed dates are later than the system's, per rank
  double seconds_ = 0, saved_ = 0, carried_ = 0;
};

}  // namespace dadsim::sim
