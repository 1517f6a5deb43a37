#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "collectives/rounds.hpp"
#include "support/flat_map.hpp"

namespace dadsim::sim {

/// A collective that was worked out for ranks that begin together, as a linear system over (max, +) that takes other
/// dates: a rank enters a round when it is through with the one before and all that it waits for has come, messages of
/// a pair follow one another, and each takes what it took when all had begun together (Baccelli, Cohen, Olsder,
/// Quadrat, Synchronization and Linearity, 1992). That costs some nanoseconds a message, where following messages that
/// share links costs a microsecond.
///
/// What is approximated is who shares a link with whom: late ranks have it as if all were there. Ranks that begin
/// together get the dates that they had when it was worked out; by how much others may be wrong says doubt().
class MaxPlusRounds {
 public:
  /// What a message takes, seconds.
  struct RoundMessage {
    double before = 0;   ///< from sending to the transfer, if nothing of the pair is on its way
    double seconds = 0;  ///< of the transfer, beside the others
    double after = 0;    ///< from its end to the delivery
    double alone = 0;    ///< of the transfer, were it alone
    bool operator==(const RoundMessage&) const = default;
  };
  static constexpr std::size_t kMostMessages = 12'000'000;  ///< that are kept, 16 bytes each

  // ---- while it is worked out ----

  /// Forgets all.
  void begin(const collectives::Rounds& rounds);
  /// Those that follow are of another round, which comes so many times.
  void add_round(std::int64_t times);
  /// A message, from and to rank · lanes + lane.
  void add(std::int32_t from, std::int32_t to, std::int32_t channel, const RoundMessage& message);
  /// Cannot be told.
  void give_up();
  /// All rounds are there: began together at date 0, ranks were done at these dates.
  void settle(const std::vector<double>& done);

  // ---- then ----

  bool is_known() const { return known_; }
  std::size_t messages() const { return messages_.size(); }
  /// Seconds that it takes ranks that begin together.
  double seconds() const { return seconds_; }
  /// Seconds by which it may be wrong for ranks that begin so far `apart`, seconds: no more than what it would save if
  /// no link were shared, or a quarter of it, as rounds that lie apart otherwise may then meet on a link. Where they
  /// are apart by less, by that; and by a little of what sharing costs, which changes as soon as messages no longer
  /// come together.
  double doubt(double apart) const { return std::min(apart + kSharing * saved_, std::max(saved_, 0.25 * seconds_)); }
  /// Messages, with all equal rounds.
  double carried() const { return carried_; }
  /// `dates`: per rank, when it begins, and afterwards when it is done.
  void enter(std::vector<double>& dates) const;

 private:
  static constexpr double kSharing = 0.05;
  struct MatrixEntry {
    std::int32_t from, to;  ///< rank · lanes + lane
    std::int32_t line;      ///< of messages that follow one another
    std::int32_t kind;      ///< in kinds_
  };
  struct SolvedRound {
    std::size_t end = 0;  ///< of its messages
    std::int64_t times = 1;
  };
  class RoundPassage;
  std::int32_t kind_of(const RoundMessage& message);
  std::vector<double> pass(const std::vector<double>& dates, bool alone) const;
  /// Whether everybody sends one message and gets one.
  bool in_single_file(std::span<const MatrixEntry> messages, std::size_t places) const;

  bool known_ = false, full_ = false;
  collectives::Rank ranks_ = 0, lanes_ = 1;
  collectives::Pace pace_;
  double start_ = 0;  ///< seconds from when a rank begins to its first message
  std::vector<RoundMessage> kinds_;
  FlatMap<std::int32_t> kind_of_;
  FlatMap<std::int32_t> line_of_;
  std::vector<std::size_t> used_in_;  ///< per line: the round it was last used in
  std::vector<MatrixEntry> messages_;
  std::vector<SolvedRound> rounds_;
  std::vector<double> correction_;  ///< per rank, seconds: what was worked out is later than the system says
  double seconds_ = 0, saved_ = 0, carried_ = 0;
};

}  // namespace dadsim::sim
