#include "sim/step/fidelity.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace dadsim::sim {
namespace {

constexpr double kMostMessages = 2e9;  // simulated one by one: hours

}  // namespace

FidelityChoice::FidelityChoice(const Cluster& cluster, double messages)
    : asked_(cluster.network.fidelity), messages_(messages) {
  if (asked_ == spec::Fidelity::message) by_flow_ = false;
  if (asked_ == spec::Fidelity::flow || asked_ == spec::Fidelity::closed_form) by_flow_ = true;
  if (asked_ == spec::Fidelity::automatic) by_flow_ = messages > static_cast<double>(cluster.network.message_budget);
  if (by_flow_ && every_step_differs(cluster)) {
    refuse("the network or the speed of computing changes over time, or others use it");
  }
  if (by_flow_ && cluster.network.rendezvous) refuse("messages wait for their receivers (rendezvous)");
}

spec::Fidelity FidelityChoice::chosen() const {
  if (!by_flow_) return spec::Fidelity::message;
  return closed_form() ? spec::Fidelity::closed_form : spec::Fidelity::flow;
}

void FidelityChoice::refuse(const std::string& reason) {
  by_flow_ = false;
  if (asked_ == spec::Fidelity::closed_form) asked_ = spec::Fidelity::flow;
  if (note_.empty()) note_ = fmt::format("not by flow: {}", reason);
  if (messages_ > kMostMessages) {
    throw std::runtime_error(
        fmt::format("{:.3g} messages are too many to simulate one by one, and {}", messages_, note_));
  }
}

void FidelityChoice::describe(step::NetworkUse& use) const {
  use.fidelity = to_string(chosen());
  use.fidelity_note = note_;
  if (by_flow_ && asked_ == spec::Fidelity::automatic) {
    use.fidelity_note = fmt::format("by flow: {:.3g} messages are more than the budget", messages_);
  }
}

}  // namespace dadsim::sim
