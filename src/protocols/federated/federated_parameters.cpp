#include <algorithm>
#include <cmath>
#include <utility>

#include "methods/idle_parameters.hpp"
#include "protocols/federated/federated_rounds.hpp"

namespace dadsim::protocols {

std::vector<spec::ParameterSpec> FederatedRounds::common_parameters() {
  std::vector<spec::ParameterSpec> parameters = {
      kFraction, kMinimum, kRounds, kDeadline, kOverSelection, kInitial,
  };
  for (spec::ParameterSpec& parameter : local_parameters()) parameters.push_back(std::move(parameter));
  return parameters;
}

std::vector<spec::ParameterSpec> FederatedRounds::straggler_parameters(bool keep) {
  return {
      kStragglers,
      kPartial.with_default(keep ? 0 : 1),
  };
}

RunFaults FederatedRounds::faults_of_parameters(const spec::ParameterValues& values, bool keep) {
  RunFaults faults = methods::faults_of_idle_parameters(
      values, {{kOverSelection, kFraction},  // all are asked
               {kPartial.with_default(keep ? 0 : 1), kStragglers},
               {SecureAggregation::kSecureBits, SecureAggregation::kSecure, {"yes"}}});
  for (methods::RunFault& fault : Federation::faults_of_parameters(values)) faults.push_back(std::move(fault));
  return faults;
}

std::function<double(const spec::ParameterValues&, double, bool)> FederatedRounds::models_held(double per_client) {
  return [per_client](const spec::ParameterValues& values, double sites, bool fails) -> double {
    if (kDeadline.of(values) > 0) return 1;  // a round continues with the sites present
    const double wanted = std::max(1.0, std::round(kFraction.of(values) * sites));
    return per_client * (fails ? std::max(1.0, wanted * kMinimum.of(values)) : wanted);
  };
}

}  // namespace dadsim::protocols
