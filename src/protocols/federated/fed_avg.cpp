#include "protocols/federated/federated_rounds.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod fed_avg_method() {
  std::vector<spec::ParameterSpec> parameters = FederatedRounds::common_parameters();
  for (spec::ParameterSpec& one : FederatedRounds::straggler_parameters(false)) parameters.push_back(std::move(one));
  for (spec::ParameterSpec& one : SecureAggregation::parameters()) parameters.push_back(std::move(one));
  return {{.name = "fedavg",
           .description = "In rounds, some clients train the model on their own data for a while, and the server takes "
                          "the mean of what they have made of it (federated averaging).",
           .source = "McMahan et al., Communication-Efficient Learning of Deep Networks from Decentralized Data, "
                     "AISTATS 2017, arXiv 1602.05629",
           .payload = "d down and d up, per client and round",
           .family = "federated",
           .on_failure = "a client that fails is left out of the round; the server waits for the others",
           .parameters = std::move(parameters),
           .sharing = Sharing::event_driven,
           .check = [](const RunFacts& facts) { return FederatedRounds::faults_of_parameters(facts.run.parameters); },
           .objective = methods::Objective::samples,
           .models_held = FederatedRounds::models_held()},
          [](const Setting& setting) { return std::make_unique<FederatedRounds>(setting); }};
}

}  // namespace dadsim::protocols
