#include "protocols/federated_rounds.hpp"

namespace dadsim::protocols {

std::vector<spec::ParameterSpec> FederatedRounds::common_parameters() {
  using Type = spec::ParameterSpec::Type;
  std::vector<spec::ParameterSpec> parameters = {
      {.name = "fraction",
       .type = Type::real,
       .minimum = 1e-6,
       .maximum = 1,
       .default_value = "1",
       .choices = {},
       .description = "share of all clients whose updates make a round (C)"},
      {.name = "minimum",
       .type = Type::real,
       .minimum = 0,
       .maximum = 1,
       .default_value = "0.5",
       .choices = {},
       .description = "share of those that must be free for a round to begin; until then the server waits"},
      {.name = "rounds",
       .type = Type::integer,
       .minimum = 0,
       .maximum = 1e9,
       .default_value = "0",
       .choices = {},
       .description = "that are played; 0: until clients have trained with the epochs of <training>"},
      {.name = "deadline",
       .type = Type::real,
       .minimum = 0,
       .maximum = 1e9,
       .default_value = "0",
       .choices = {},
       .description = "seconds after which a round goes on with the updates that are there; 0: none"},
      {.name = "over-selection",
       .type = Type::real,
       .minimum = 1,
       .maximum = 100,
       .default_value = "1",
       .choices = {},
       .description = "clients asked per update that is waited for; the last ones are ignored"},
      {.name = "initial",
       .type = Type::choice,
       .minimum = 0,
       .maximum = 0,
       .default_value = "sent",
       .choices = {"sent", "in-place"},
       .description = "in-place: clients have the first model already"},
  };
  for (spec::ParameterSpec& parameter : local_parameters()) parameters.push_back(std::move(parameter));
  return parameters;
}

std::vector<spec::ParameterSpec> FederatedRounds::straggler_parameters(const std::string& partial) {
  using Type = spec::ParameterSpec::Type;
  return {
      {.name = "stragglers",
       .type = Type::real,
       .minimum = 0,
       .maximum = 1,
       .default_value = "0",
       .choices = {},
       .description = "share of a round's clients that can do only a part of their local work"},
      {.name = "partial",
       .type = Type::choice,
       .minimum = 0,
       .maximum = 0,
       .default_value = partial,
       .choices = {"keep", "drop"},
       .description = "what becomes of the part that a straggler has done"},
  };
}

}  // namespace dadsim::protocols
