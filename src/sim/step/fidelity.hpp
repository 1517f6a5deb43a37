#pragma once

#include <string>

#include "sim/simulator.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// Decides how closely a run is simulated, and says why.
class FidelityChoice {
 public:
  /// `messages`: of the whole run, were they simulated one by one.
  FidelityChoice(const Cluster& cluster, double messages);

  bool by_flow() const { return by_flow_; }
  bool closed_form() const { return asked_ == spec::Fidelity::closed_form; }
  /// How it is simulated after all.
  spec::Fidelity chosen() const;

  /// Message by message, then. Throws std::runtime_error where they are too many for that.
  void refuse(const std::string& reason);
  void describe(step::NetworkUse& use) const;

 private:
  spec::Fidelity asked_;
  double messages_;
  bool by_flow_ = false;
  std::string note_;
};

}  // namespace dadsim::sim
