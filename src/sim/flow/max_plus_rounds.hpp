#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/rounds.hpp"
#include "support/flat_map.hpp"

namespace dadsim::sim {

/// A collective solved for ranks that begin together, as a linear system over (max, +) that accepts other dates. A rank
/// enters a round when it has finished the previous one and all awaited messages have arrived. Messages of a pair
/// follow one another, and each takes as long as when all ranks began together. (Baccelli, Cohen, Olsder, Quadrat,
/// Synchronization and Linearity, 1992.) A message costs some nanoseconds here; simulating messages that share links
/// costs a microsecond.
///
/// Sharing of links is approximate: late ranks share links as if all ranks were present. Dates are exact for ranks that
/// begin together; doubt() bounds the error for others.
class MaxPlusRounds {
 public:
  /// Times of a message, seconds.
  struct RoundMessage {
    double before = 0;   ///< seconds from sending to the transfer, if the pair has no other message in flight
    double seconds = 0;  ///< seconds of the transfer, sharing links with others
    double after = 0;    ///< seconds from the end of the transfer to the delivery
    double alone = 0;    ///< seconds of the transfer if no other uses its links
    bool operator==(const RoundMessage&) const = default;
  };
  static constexpr std::size_t kMostMessages = 12'000'000;  ///< largest number of messages kept; each takes 16 bytes

  // ---- building ----

  /// Clears the system for these rounds.
  void begin(const collectives::Rounds& rounds);
  /// Lets classes of ranks take the place of ranks. Only dates that are equal within each class can then be entered.
  void divide(std::vector<std::int32_t> class_of, std::vector<collectives::Rank> first);
  /// Begins a round that occurs `times` times; add() then adds its messages.
  void add_round(std::int64_t times);
  /// Adds a message; `from` and `to`: rank · lanes + lane.
  void add(std::int32_t from, std::int32_t to, std::int32_t channel, const RoundMessage& message);
  /// Adds a message between classes of ranks, on line number `line`; `from` and `to`: class · lanes + lane.
  void add_of_class(std::int32_t from, std::int32_t to, std::int32_t line, const RoundMessage& message);
  /// Counts a message that every rank of the class of `rank` sends, whether added or represented by another one.
  void count_of_class(collectives::Rank rank);
  /// Marks the system as unknown.
  void give_up();
  /// Completes the system. `done`: per rank, the date at which it finishes if all ranks begin at date 0.
  void settle(const std::vector<double>& done);

  // ---- use ----

  bool is_known() const { return known_; }
  bool is_divided() const { return !class_of_.empty(); }
  std::size_t messages() const { return messages_.size(); }
  /// Returns the seconds that ranks take if they begin together.
  double seconds() const { return seconds_; }
  /// Returns the seconds by which dates may be wrong for ranks that begin `apart` seconds apart. The error is at most
  /// `apart` plus a share of the costs of sharing, which change once messages no longer arrive together. It is also at
  /// most the larger of two times: the time saved if no link were shared, and a quarter of the whole time, since
  /// separate rounds may then share a link.
  double doubt(double apart) const { return std::min(apart + kSharing * saved_, std::max(saved_, 0.25 * seconds_)); }
  /// Returns the number of messages, including those of all equal rounds.
  double carried() const { return carried_; }
  /// Returns whether ranks may begin at these dates: they are equal within each class, or there are no classes.
  bool holds_for(const std::vector<double>& dates) const;
  /// Replaces the date at which each rank begins by the date at which it is done.
  void enter(std::vector<double>& dates) const;

 private:
  static constexpr double kSharing = 0.05;
  struct MatrixEntry {
    std::int32_t from, to;  ///< rank · lanes + lane
    std::int32_t line;      ///< number of a sequence of messages that follow one another
    std::int32_t kind;      ///< index in kinds_
  };
  struct SolvedRound {
    std::size_t end = 0;  ///< index after the round's last message
    std::int64_t times = 1;
  };
  class RoundPassage;
  std::int32_t kind_of(const RoundMessage& message);
  void add_on(std::uint64_t line, std::int32_t from, std::int32_t to, const RoundMessage& message);
  std::vector<double> pass(const std::vector<double>& dates, bool alone) const;
  /// Returns whether the pairs form closed rings: a rank that sends a message receives one, and none sends or receives
  /// two.
  bool in_single_file(std::span<const MatrixEntry> messages, std::size_t places) const;

  bool known_ = false, full_ = false;
  collectives::Rank ranks_ = 0, lanes_ = 1;
  std::vector<std::int32_t> class_of_;    ///< class of each rank; empty: no classes
  std::vector<collectives::Rank> first_;  ///< first rank of each class
  std::vector<std::size_t> ranks_of_;     ///< number of ranks of each class
  std::size_t all_ = 0;                   ///< number of messages of all ranks; equal rounds count once
  collectives::Pace pace_;
  double start_ = 0;  ///< seconds from a rank's beginning to its first message
  std::vector<RoundMessage> kinds_;
  FlatMap<std::int32_t> kind_of_;
  FlatMap<std::int32_t> line_of_;
  std::vector<std::size_t> used_in_;  ///< number of rounds added when each line was last used; 0: never
  std::vector<MatrixEntry> messages_;
  std::vector<SolvedRound> rounds_;
  std::vector<double> correction_;  ///< seconds by which the simulated dates exceed those of the system, per rank
  double seconds_ = 0, saved_ = 0, carried_ = 0;
};

}  // namespace dadsim::sim
