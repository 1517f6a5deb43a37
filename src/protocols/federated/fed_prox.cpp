
#include "protocols/federated/federated_rounds.hpp"
#include "protocols/methods.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {
namespace {

class FedProx final : public FederatedRounds {
 public:
  static constexpr spec::RealParameter kMu{
      "mu", 0, 1e6, "0.01", "weight of the proximal term, which pulls a client towards the model it received"};

  explicit FedProx(const Setting& setting) : FederatedRounds(setting) { add_proximal_term(setting.value(kMu)); }
};

}  // namespace

/// Clients minimise F_k(w) + ½ μ ‖w − w_t‖² (Li et al., arXiv 1812.06127, equation 2), and stragglers' partial work is
/// kept.
EventDrivenMethod fed_prox_method() {
  return {
      {.name = "fedprox",
       .family = "federated",
       .parameters = joined<spec::ParameterSpec>(
           {FederatedRounds::common_parameters(), {FedProx::kMu}, FederatedRounds::straggler_parameters(true)}),
       .sharing = Sharing::event_driven,
       .check = [](const RunFacts& facts) { return FederatedRounds::faults_of_parameters(facts.run.parameters, true); },
       .objective = methods::Objective::samples,
       .models_held = FederatedRounds::models_held()},
      [](const Setting& setting) { return std::make_unique<FedProx>(setting); }};
}

}  // namespace dadsim::protocols
