#pragma once

#include <optional>
#include <vector>

#include "sim/network/event_classes.hpp"
#include "sim/network/flow_account.hpp"
#include "sim/network/flow_network.hpp"
#include "sim/network/flow_refusal.hpp"
#include "sim/network/solved_rounds.hpp"

namespace dadsim::sim {

/// Rounds whose ranks do not keep in step, message by message (FlowEvents), and what came out the last time.
class FollowedRounds {
 public:
  explicit FollowedRounds(FlowNetwork& ranks) : ranks_(ranks) {}

  /// Whether the last that were carried out are these.
  bool are(const collectives::Rounds& rounds) const { return known_ == &rounds; }
  void forget() { known_ = nullptr; }
  /// `dates`: per rank, when it begins, and afterwards when it is done. As long after one another as before they take
  /// what they took, and the account stays as it is.
  /// `solved`, if any, gets what messages took; the rounds must not be those of the last run then.
  [[nodiscard]] Refused run(const collectives::Rounds& rounds, std::vector<double>& dates, FlowAccount& account,
                            SolvedRounds* solved = nullptr);

 private:
  FlowNetwork& ranks_;
  const collectives::Rounds* known_ = nullptr;
  std::optional<EventClasses> classes_;  ///< of those, for dates that they hold for
  std::vector<double> begun_, ended_;    ///< per rank: of their last run, seconds after the first began
};

}  // namespace dadsim::sim
