#include "spec/specification.hpp"

#include <algorithm>
#include <stdexcept>

namespace dadsim::spec {

std::vector<double> TrainingSpec::targets() const {
  std::vector<double> all{target_accuracy};
  all.insert(all.end(), further_targets.begin(), further_targets.end());
  return all;
}

double TrainingSpec::last_target() const { return std::ranges::max(targets()); }

}  // namespace dadsim::spec
