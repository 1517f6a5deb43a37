#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dadsim::collectives {

using Rank = std::int32_t;

/// A message of a collective, as one of its ends sees it.
struct Transfer {
  Rank peer = 0;
  double bytes = 0;
  bool operator==(const Transfer&) const = default;
};

/// Rounds of one kind, one after the other.
struct RoundPhase {
  std::int64_t first = 0;  ///< round
  std::int64_t rounds = 1;
  /// Every round of the phase has the same pairs, and each pair the same bytes: the first round stands for all.
  bool alike = true;
};

/// A collective laid out for its ranks and sizes. A rank goes through the rounds in order. In each it hands its
/// messages to the network, which takes them at once, and goes on when all messages addressed to it in this round have
/// arrived. A rank without messages in a round passes through it. Messages of a pair keep their order. What a rank
/// sends in a round may depend on what it received in rounds before, never on the same round.
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
  /// Appends what `rank` sends in `round`, at most one message per peer, never to itself.
  virtual void sends(Rank rank, std::int64_t round, std::vector<Transfer>& out) const = 0;
  /// Appends what `rank` receives in `round`: exactly the messages that the others send to it.
  virtual void receives(Rank rank, std::int64_t round, std::vector<Transfer>& out) const = 0;
  /// The rounds in order, none left out.
  virtual std::vector<RoundPhase> phases() const = 0;
};

}  // namespace dadsim::collectives
