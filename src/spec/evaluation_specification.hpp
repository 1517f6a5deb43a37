#pragma once

#include <cstdint>
#include <vector>

#include "spec/drift_specification.hpp"

// On what a model is tried once a run has been learned, beside the held-back data that its curve is of.

namespace dadsim::spec {

/// Held-back data of sites whose instruments or classes have shifted, with corrections of the shift that need no
/// training: see docs/drift.md.
struct EvaluationSpec {
  /// Held-back data as they become under a corruption of every site, once for each severity (1 … kMaxSeverity).
  struct SiteShift {
    Corruption corruption = Corruption::none;
    std::vector<std::int64_t> severities = {3};
    bool operator==(const SiteShift&) const = default;
  };
  std::vector<std::int64_t> batches = {128};  ///< samples of a site that are corrected together
  std::int64_t quantiles = 64;                ///< that stand for a distribution, per unit
  double label_alpha = 0;                     ///< above 0: also with classes of each site in shares ~ Dir(label_alpha)
  std::vector<SiteShift> shifts;              ///< beside the data as they are, which always are tried
  bool operator==(const EvaluationSpec&) const = default;
};

}  // namespace dadsim::spec
