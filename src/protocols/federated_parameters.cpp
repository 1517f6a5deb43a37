#include <algorithm>
#include <cmath>

#include "protocols/federated_rounds.hpp"

namespace dadsim::protocols {

std::vector<spec::ParameterSpec> FederatedRounds::common_parameters() {
  std::vector<spec::ParameterSpec> parameters = {
      spec::real_parameter("fraction", 1e-6, 1, "1", "share of all clients whose updates make a round (C)"),
      spec::real_parameter("minimum", 0, 1, "0.5",
                           "share of those that must be free for a round to begin; until then the server waits"),
      spec::integer_parameter("rounds", 0, 1e9, "0",
                              "that are played; 0: until clients have trained with the epochs of <training>"),
      spec::real_parameter("deadline", 0, 1e9, "0",
                           "seconds after which a round goes on with the updates that are there; 0: none"),
      spec::real_parameter("over-selection", 1, 100, "1",
                           "clients asked per update that is waited for; the last ones are ignored"),
      spec::choice_parameter("initial", {"sent", "in-place"}, "in-place: clients have the first model already"),
  };
  for (spec::ParameterSpec& parameter : local_parameters()) parameters.push_back(std::move(parameter));
  return parameters;
}

std::vector<spec::ParameterSpec> FederatedRounds::straggler_parameters(const std::string& partial) {
  return {
      spec::real_parameter("stragglers", 0, 1, "0",
                           "share of a round's clients that can do only a part of their local work"),
      spec::choice_parameter("partial", partial, {"keep", "drop"},
                             "what becomes of the part that a straggler has done"),
  };
}

std::function<double(const spec::ParameterValues&, double, bool)> FederatedRounds::models_held(double per_client) {
  return [per_client](const spec::ParameterValues& values, double sites, bool fails) -> double {
    if (std::stod(values.at("deadline")) > 0) return 1;  // a round goes on with those that are there
    const double wanted = std::max(1.0, std::round(std::stod(values.at("fraction")) * sites));
    return per_client * (fails ? std::max(1.0, wanted * std::stod(values.at("minimum"))) : wanted);
  };
}

}  // namespace dadsim::protocols
