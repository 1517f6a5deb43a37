#include "spec/specification.hpp"

#include <algorithm>

namespace dadsim::spec {

std::vector<double> TrainingSpec::targets() const {
  std::vector<double> all{target_accuracy};
  all.insert(all.end(), further_targets.begin(), further_targets.end());
  return all;
}

double TrainingSpec::last_target() const { return std::ranges::max(targets()); }

FailureSpec ConditionsSpec::failures_of(const FailureSpec& of_scenario) const {
  FailureSpec what = own ? *own : of_scenario;
  if (failures == Of::none) {
    what.random.clear();
    what.outages.clear();
    what.checkpoints.clear();
  }
  if (availability == Of::none) what.availability.clear();
  return what;
}

}  // namespace dadsim::spec
