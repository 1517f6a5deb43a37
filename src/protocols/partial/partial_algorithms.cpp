#include "algorithms/exact/dad.hpp"
#include "algorithms/exact/gradient_sharing.hpp"
#include "algorithms/low_rank/rank_dad.hpp"
#include "algorithms/registry.hpp"
#include "protocols/methods.hpp"
#include "protocols/partial/partial_participation.hpp"

namespace dadsim::protocols {
namespace {

std::vector<spec::ParameterSpec> partial_parameters(const std::string& algorithm) {
  std::vector<spec::ParameterSpec> parameters = {
      PartialParticipation::kFraction,
      PartialParticipation::kDeadline,
      PartialParticipation::kUnbiased,
      PartialParticipation::kBarrier,
  };
  for (const spec::ParameterSpec& own : algorithms::algorithm_registry().at(algorithm).parameters) {
    // A step of some sites follows from its weights alone: there is no memory of others.
    if (own.name != "separate" && own.name != "memory") parameters.push_back(own);
  }
  return parameters;
}

/// Returns the algorithm's own state; parameters that a run does not have take their defaults.
std::function<estimate::AlgorithmState(const spec::ParameterValues&)> state_of(const std::string& algorithm) {
  return [algorithm](const spec::ParameterValues& given) {
    const MethodInfo& info = algorithms::algorithm_registry().at(algorithm);
    return info.state(run_of(info, given).parameters);
  };
}

/// `decides_by`: see MethodInfo.
EventDrivenMethod partial_method(const std::string& name, const std::string& algorithm,
                                 const char* decides_by = nullptr) {
  const MethodInfo& info = algorithms::algorithm_registry().at(algorithm);
  return {{.name = name,
           .family = "federated",
           .parameters = partial_parameters(algorithm),
           .sharing = Sharing::event_driven,
           .forgets = methods::kSitesChange,
           .follows_drift = false,
           .decides_by = decides_by,
           .state = info.state ? state_of(algorithm) : nullptr},
          [algorithm](const Setting& setting) { return std::make_unique<PartialParticipation>(setting, algorithm); }};
}

}  // namespace

EventDrivenMethod partial_gradient_sharing_method() {
  return partial_method("partial-gradient-sharing", algorithms::GradientSharing::kName);
}

EventDrivenMethod partial_dad_method() { return partial_method("partial-dad", algorithms::Dad::kName); }

EventDrivenMethod partial_rank_dad_method() {
  return partial_method("partial-rank-dad", algorithms::RankDad::kName,
                        "the ranks of every step to know how much is sent");
}

}  // namespace dadsim::protocols
