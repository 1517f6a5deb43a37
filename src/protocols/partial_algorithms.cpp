#include "algorithms/registry.hpp"
#include "protocols/partial_participation.hpp"

namespace dadsim::protocols {
namespace {

std::vector<spec::ParameterSpec> partial_parameters(const std::string& algorithm) {
  using Type = spec::ParameterSpec::Type;
  std::vector<spec::ParameterSpec> parameters = {
      {.name = "fraction",
       .type = Type::real,
       .minimum = 1e-6,
       .maximum = 1,
       .default_value = "1",
       .choices = {},
       .description = "share of the sites that are asked in a step, drawn anew each time"},
      {.name = "deadline",
       .type = Type::real,
       .minimum = 0,
       .maximum = 1e9,
       .default_value = "0",
       .choices = {},
       .description = "seconds after which a step goes on with what has come, though never with nothing; 0: none"},
      {.name = "weights",
       .type = Type::choice,
       .minimum = 0,
       .maximum = 0,
       .default_value = "unbiased",
       .choices = {"unbiased", "present"},
       .description = "unbiased: each part counts by the inverse of the site's chance to take part; present: the mean "
                      "over those that are there"},
      {.name = "barrier",
       .type = Type::choice,
       .minimum = 0,
       .maximum = 0,
       .default_value = "false",
       .choices = {"false", "true"},
       .description = "true: sites begin the next step together, once all are through; false: each when it is"},
  };
  for (const spec::ParameterSpec& own : algorithms::algorithm_registry().at(algorithm).parameters) {
    if (own.name != "separate") parameters.push_back(own);
  }
  return parameters;
}

ProtocolInfo partial_info(const std::string& name, const std::string& algorithm, const std::string& what) {
  const algorithms::AlgorithmInfo& info = algorithms::algorithm_registry().at(algorithm);
  return {.name = name,
          .description = what,
          .source = info.source + "; partial participation is ours, its weights Horvitz and Thompson's (1952)",
          .payload = info.payload,
          .on_failure =
              "a site that fails is missed until it has fetched the weights again; where the aggregator fails "
              "its step is given up",
          .remembers = false,
          .follows_drift = false,
          .parameters = partial_parameters(algorithm),
          .make = [algorithm](
                      const Setting& setting) { return std::make_unique<PartialParticipation>(setting, algorithm); },
          .check = nullptr,
          .state = info.state};
}

}  // namespace

ProtocolInfo partial_gradient_sharing_info() {
  return partial_info("partial-gradient-sharing", "gradient-sharing",
                      "Gradient sharing among the sites that are asked, and whose gradients come before a deadline.");
}

ProtocolInfo partial_dad_info() {
  return partial_info("partial-dad", "dad",
                      "dAD among the sites that are asked, and whose activations and deltas come before a deadline.");
}

ProtocolInfo partial_rank_dad_info() {
  return partial_info("partial-rank-dad", "rank-dad",
                      "rank-dAD among the sites that are asked, and whose factors come before a deadline.");
}

}  // namespace dadsim::protocols
