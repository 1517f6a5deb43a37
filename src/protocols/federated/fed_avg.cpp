#include "protocols/federated/federated_rounds.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod fed_avg_method() {
  return {{.name = "fedavg",
           .family = "federated",
           .parameters = joined<spec::ParameterSpec>({FederatedRounds::common_parameters(),
                                                      FederatedRounds::straggler_parameters(false),
                                                      SecureAggregation::parameters()}),
           .sharing = Sharing::event_driven,
           .check = [](const RunFacts& facts) { return FederatedRounds::faults_of_parameters(facts.run.parameters); },
           .objective = methods::Objective::samples,
           .models_held = FederatedRounds::models_held()},
          [](const Setting& setting) { return std::make_unique<FederatedRounds>(setting); }};
}

}  // namespace dadsim::protocols
