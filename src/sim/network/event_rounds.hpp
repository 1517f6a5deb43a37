#pragma once

#include <optional>
#include <vector>

#include "sim/network/event_classes.hpp"
#include "sim/network/flow_account.hpp"
#include "sim/network/flow_network.hpp"
#include "sim/network/flow_refusal.hpp"
#include "sim/network/max_plus_rounds.hpp"

namespace dadsim::sim {

/// Rounds whose ranks do not keep in step, message by message (FlowEvents), and what came out the last time.
class EventRounds {
 public:
  explicit EventRounds(FlowNetwork& ranks) : ranks_(ranks) {}

  /// Whether the last run was of these, from dates as far apart: then they take what they took, and the account is
  /// still theirs. `dates`: per rank, when it begins, and afterwards when it is done.
  bool again(const collectives::Rounds& rounds, std::vector<double>& dates) const;
  /// Whether packets may be lost, which depends on who comes when: then rounds are not followed here.
  bool may_lose(const collectives::Rounds& rounds) const;
  /// `rounds` are carried out in another way: the account is theirs from now on.
  void others_follow(const collectives::Rounds& rounds) {
    is_last_ = false;
    if (known_ != &rounds) known_ = nullptr;
  }
  /// `dates` as above. `solved`, if any, gets what messages took; the rounds must not be those of the last run then.
  [[nodiscard]] Refused run(const collectives::Rounds& rounds, std::vector<double>& dates, FlowAccount& account,
                            MaxPlusRounds* solved = nullptr);

 private:
  FlowNetwork& ranks_;
  const collectives::Rounds* known_ = nullptr;
  std::optional<EventClasses> classes_;  ///< of those, for dates that they hold for
  bool is_last_ = false;                 ///< nothing has been carried out since
  std::vector<double> begun_, ended_;    ///< per rank: of their last run, seconds after the first began
};

}  // namespace dadsim::sim
