#pragma once

#include <cstdint>
#include <vector>

#include "spec/drift_specification.hpp"

// Data on which a learned model is evaluated in addition to the held-back data of its curve.

namespace dadsim::spec {

/// Held-back data of sites with shifted instruments or classes, with corrections that need no training (docs/drift.md).
struct EvaluationSpec {
  /// Held-back data after a corruption of every site, once for each severity (1 … kMaxSeverity).
  struct SiteShift {
    Corruption corruption = Corruption::none;
    std::vector<std::int64_t> severities = {3};
    bool operator==(const SiteShift&) const = default;
  };
  std::vector<std::int64_t> batches = {128};  ///< samples of a site that are corrected together
  std::int64_t quantiles = 64;                ///< quantiles that describe a distribution, per unit
  double label_alpha = 0;         ///< concentration of class shares that are evaluated in addition, drawn per site from
                                  ///< Dir(label_alpha); 0: none
  std::vector<SiteShift> shifts;  ///< shifts in addition to the unchanged data, which are always evaluated
  bool operator==(const EvaluationSpec&) const = default;
};

}  // namespace dadsim::spec
