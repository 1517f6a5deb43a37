#include "protocols/federated/federated_rounds.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod fed_avg_method() {
  std::vector<spec::ParameterSpec> parameters = FederatedRounds::common_parameters();
  for (spec::ParameterSpec& one : FederatedRounds::straggler_parameters(false)) parameters.push_back(std::move(one));
  for (spec::ParameterSpec& one : SecureAggregation::parameters()) parameters.push_back(std::move(one));
  return {{.name = "fedavg",
           .family = "federated",
           .parameters = std::move(parameters),
           .sharing = Sharing::event_driven,
           .check = [](const RunFacts& facts) { return FederatedRounds::faults_of_parameters(facts.run.parameters); },
           .objective = methods::Objective::samples,
           .models_held = FederatedRounds::models_held()},
          [](const Setting& setting) { return std::make_unique<FederatedRounds>(setting); }};
}

}  // namespace dadsim::protocols
