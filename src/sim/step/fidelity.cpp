#include "sim/step/fidelity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace dadsim::sim {
namespace {

constexpr double kMostMessagesAtAll = 2e9;      // largest number of messages simulated individually, which takes hours
constexpr double kMostSecondsAtAll = 4 * 3600;  // processor seconds that a user is assumed to wait at most
constexpr double kMostOverlooked = 0.005;       // largest overlooked time, as a share of a step
constexpr double kLittleTime = 20;              // processor seconds that messages may take unless requested
constexpr double kWorthSaying = 1e-3;           // least share of a step that is reported
const std::int64_t kUnsaid = spec::NetworkSpec{}.message_budget;

/// Returns whether there is background traffic, or changes of the network that only SimGrid knows.
bool changes_unknown(const Cluster& cluster) {
  return !cluster.platform.background.empty() || (network_differs(cluster) && cluster.platform.profiles.empty());
}

/// Returns whether the cluster is supported by messages alone, because neither flow nor the closed form supports it.
bool by_messages_only(const Cluster& cluster) { return changes_unknown(cluster) || cluster.network.rendezvous; }

}  // namespace

FidelityChoice::FidelityChoice(const Cluster& cluster, double messages, std::function<MessageEffort()> effort,
                               double most_seconds)
    : asked_(cluster.network.fidelity),
      flow_alone_(cluster.flow_alone),
      is_budget_unsaid_(cluster.network.message_budget == kUnsaid),
      messages_(messages),
      ask_effort_(std::move(effort)) {
  // Uses an upper bound of the effort if it is small enough, as on few ranks.
  const MessageEffort most = most_effort(messages, cluster.hosts.size() + 1);
  if (most.fits() && most.seconds <= most_seconds) effort_ = most;
  switch (asked_) {
    case spec::Fidelity::message:
      is_refused_ = by_flow_ = !too_much().empty();
      if (is_refused_ && by_messages_only(cluster)) {
        throw std::runtime_error(fmt::format("{}; use fewer workers", too_much()));
      }
      break;
    case spec::Fidelity::flow:
    case spec::Fidelity::closed_form:
      by_flow_ = true;
      break;
    case spec::Fidelity::automatic: {
      const std::int64_t budget = cluster.network.message_budget;
      if (messages > static_cast<double>(budget)) {
        by_flow_ = true;
        notes_ = {Statement{"flow-by-budget"}.with("messages", messages)};
      } else if (!too_much().empty()) {
        by_flow_ = true;
        notes_ = {Statement{"flow-by-size"}.with("fault", too_much())};
      } else if (is_budget_unsaid_ && this->effort().seconds > most_seconds) {
        by_flow_ = true;
        notes_ = {Statement{"flow-by-effort"}.with("messages", messages).with("seconds", this->effort().seconds)};
      }
      break;
    }
  }
  if (by_flow_ && changes_unknown(cluster)) {
    refuse("the network changes over time, or carries other traffic");
  }
  if (by_flow_ && cluster.network.rendezvous) refuse("messages wait for their receivers (rendezvous)");
}

spec::Fidelity FidelityChoice::chosen() const {
  if (!by_flow_) return spec::Fidelity::message;
  return closed_form() ? spec::Fidelity::closed_form : spec::Fidelity::flow;
}

const MessageEffort& FidelityChoice::effort() {
  if (!effort_) effort_ = ask_effort_();
  return *effort_;
}

std::string FidelityChoice::too_much() {
  if (messages_ > kMostMessagesAtAll)
    return fmt::format("{:.3g} messages are too many to simulate one by one", messages_);
  if (!effort().fits()) {
    return fmt::format(
        "more than {} pairs of ranks exchange messages, or {} ranks and pairs in all: too many to simulate one by one",
        kMostConnections, MessageEffort::kMostActors);
  }
  if (effort().seconds > kMostSecondsAtAll) {
    return fmt::format("{:.3g} messages would take about {:.2g} hours to simulate one by one", messages_,
                       effort().seconds / 3600);
  }
  return {};
}

void FidelityChoice::refuse(const std::string& reason, bool only_flow) {
  if (flow_alone_) throw std::runtime_error(fmt::format("fidelity=\"flow\" does not apply: {}", reason));
  by_flow_ = false;
  if (asked_ == spec::Fidelity::closed_form) asked_ = spec::Fidelity::flow;
  notes_ = {Statement{"not-by-flow"}.with("fault", reason)};
  std::string why = too_much(), wait;
  // Allows any time if a scenario requests messages or sets their budget, because the user then waits for them.
  if (why.empty() && asked_ != spec::Fidelity::message && is_budget_unsaid_ && effort().seconds > kLittleTime) {
    why = fmt::format("{:.3g} messages would take about {:.2g} s to simulate one by one", messages_, effort().seconds);
    wait = "fidelity=\"message\" to wait for them, ";
  }
  if (why.empty()) return;
  throw std::runtime_error(fmt::format("{}, and flow does not apply: {}; use {}{}fewer workers", why, reason, wait,
                                       only_flow ? "fidelity=\"closed-form\" for a first estimate, or " : ""));
}

void FidelityChoice::timed_by_flow() {
  if (is_refused_) throw std::runtime_error(fmt::format("{}; use fidelity=\"flow\" or fewer workers", too_much()));
}

bool FidelityChoice::may_overlook(double share) {
  return share <= kMostOverlooked || flow_alone_ || !too_much().empty();
}

bool FidelityChoice::is_worth_messages(double share, double most) {
  return share > most && !flow_alone_ && too_much().empty() && effort().seconds <= kLittleTime;
}

bool FidelityChoice::may_change(double share) {
  changes_ = share;
  return !is_worth_messages(share, kMostLate);
}

bool FidelityChoice::may_be_wrong(double share, double most) {
  if (is_worth_messages(share, most)) return false;
  wrong_by_ = std::max(wrong_by_, share);
  return true;
}

void FidelityChoice::describe(step::NetworkUse& use) const {
  use.fidelity = to_string(chosen());
  use.fidelity_notes = by_flow_ && asked_ != spec::Fidelity::automatic ? std::vector<Statement>() : notes_;
  if (by_flow_ && wrong_by_ > kWorthSaying) {
    use.fidelity_notes.push_back(Statement{"late-ranks-by-flow"}.with("share", wrong_by_));
  }
  if (by_flow_ && changes_ > kWorthSaying) {
    use.fidelity_notes.push_back(Statement{"changes-by-flow"}.with("share", changes_));
  }
}

}  // namespace dadsim::sim
