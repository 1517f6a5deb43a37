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

/// Decides how closely a run is simulated, and says why: before anything is.
class FidelityChoice {
 public:
  /// `messages`: of the whole run, were they simulated one by one; `effort`: the same with what it would take, which is
  /// asked for only where it matters. Left to itself, the choice is for messages as long as these are within the budget
  /// and, where no budget is said, take no more than `most_seconds` of a processor. Where messages are asked for and
  /// too many it is refused, once it is known whether flow would take it: until then it is by flow. Throws
  /// std::runtime_error where no flow can be tried.
  FidelityChoice(const Cluster& cluster, double messages, std::function<MessageEffort()> effort, double most_seconds);

  bool by_flow() const { return by_flow_; }
  bool closed_form() const { return asked_ == spec::Fidelity::closed_form; }
  /// How it is simulated after all.
  spec::Fidelity chosen() const;

  /// Message by message, then. Throws std::runtime_error where they are too many for that, or take longer than a run
  /// may that does not ask for messages. `only_flow`: the closed form would take it.
  void refuse(const std::string& reason, bool only_flow = false);
  /// By flow it can be. Throws std::runtime_error, which advises it, where messages were asked for.
  void timed_by_flow();
  /// Collectives hold up one another on links that they share for this share of a step, and flow counts none of it.
  /// False where it is more than a little and messages are not too many.
  bool may_overlook(double share);
  /// A step by flow may be wrong by this share of it, as ranks enter collectives late, or for what collectives take
  /// beside others on links that they share. False where messages are quick enough for them to say it better.
  bool may_enter_late(double share) { return may_be_wrong(share, kMostLate); }
  bool may_share_links(double share) { return may_be_wrong(share, kMostShared); }
  /// The same of steps during which links change.
  bool may_change(double share);
  void describe(step::NetworkUse& use) const;

 private:
  static constexpr double kMostLate = 0.01;  ///< of a step: above, messages say it better where they take little time
  static constexpr double kMostShared = 0.005;  ///< likewise

  bool is_worth_messages(double share, double most);
  bool may_be_wrong(double share, double most);
  const MessageEffort& effort();
  /// Why it cannot be simulated message by message; empty if it can.
  std::string too_much();

  spec::Fidelity asked_;
  bool flow_alone_;  ///< as Cluster::flow_alone
  bool is_budget_unsaid_;
  double messages_;
  std::function<MessageEffort()> ask_effort_;
  std::optional<MessageEffort> effort_;
  bool by_flow_ = false;
  bool is_refused_ = false;       ///< messages were asked for, and are too many
  std::vector<Statement> notes_;  ///< one at most
  double wrong_by_ = 0;           ///< share of a step
  double changes_ = 0;            ///< likewise, as links change
};

}  // namespace dadsim::sim
