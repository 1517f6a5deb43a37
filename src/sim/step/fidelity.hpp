#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/simulator.hpp"
#include "sim/step/message_effort.hpp"
#include "step/timing.hpp"
#include "support/statement.hpp"

namespace dadsim::sim {

/// Chooses the fidelity of a run and the reason for it, before the simulation.
class FidelityChoice {
 public:
  /// `messages`: number of messages of the whole run, if simulated individually. `effort`: returns their effort; called
  /// only if needed. The automatic choice is messages if they fit the budget and, unless a budget is given, take at
  /// most `most_seconds` of a processor. Requested messages that are too many are refused once flow is known to support
  /// the run; until then the run is timed by flow. Throws std::runtime_error if flow cannot be tried.
  FidelityChoice(const Cluster& cluster, double messages, std::function<MessageEffort()> effort, double most_seconds);

  bool by_flow() const { return by_flow_; }
  bool closed_form() const { return asked_ == spec::Fidelity::closed_form; }
  /// Returns the fidelity chosen at the end.
  spec::Fidelity chosen() const;

  /// Switches to messages. Throws std::runtime_error if there are too many messages, or if they take longer than
  /// allowed for a run that does not request messages. `only_flow`: the closed form would support the run.
  void refuse(const std::string& reason, bool only_flow = false);
  /// Records that flow supports the run. Throws std::runtime_error, which advises flow, if messages were requested but
  /// are too many.
  void timed_by_flow();
  /// Reports the share of a step by which collectives delay one another on shared links, which flow does not include.
  /// Returns false if the share is too large and messages are possible.
  bool may_overlook(double share);
  /// Reports a share of a step by which flow may be wrong, because ranks enter collectives late or share links. Returns
  /// false if messages are quick enough to be preferred.
  bool may_enter_late(double share) { return may_be_wrong(share, kMostLate); }
  bool may_share_links(double share) { return may_be_wrong(share, kMostShared); }
  /// Reports the share of a step by which flow may be wrong because links change. Returns false if messages are quick
  /// enough to be preferred.
  bool may_change(double share);
  void describe(step::NetworkUse& use) const;

 private:
  static constexpr double kMostLate = 0.01;     ///< share of a step in doubt above which messages are preferred if they
                                                ///< are quick
  static constexpr double kMostShared = 0.005;  ///< share of a step in doubt on shared links above which messages are
                                                ///< preferred if they are quick

  bool is_worth_messages(double share, double most);
  bool may_be_wrong(double share, double most);
  const MessageEffort& effort();
  /// Returns why the run cannot be simulated message by message; empty if it can.
  std::string too_much();

  spec::Fidelity asked_;
  bool flow_alone_;  ///< see Cluster::flow_alone
  bool is_budget_unsaid_;
  double messages_;
  std::function<MessageEffort()> ask_effort_;
  std::optional<MessageEffort> effort_;
  bool by_flow_ = false;
  bool is_refused_ = false;       ///< true: messages were requested and are too many
  std::vector<Statement> notes_;  ///< notes for the result; at most one
  double wrong_by_ = 0;           ///< possible error, as a share of a step
  double changes_ = 0;            ///< possible error because links change, as a share of a step
};

}  // namespace dadsim::sim
