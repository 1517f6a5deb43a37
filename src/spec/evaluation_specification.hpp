// Additional data for evaluating a learned model, next to the held-back data of its curve.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "spec/drift_specification.hpp"
#include "spec/names.hpp"

namespace dadsim::spec {

/// Held-back data of sites with changed instruments or classes. Corrections that need no training are applied
/// (docs/drift.md).
struct EvaluationSpec {
  /// Held-back data with a corruption at every site, evaluated once per severity (1 … kMaxSeverity).
  struct SiteShift {
    Corruption corruption = Corruption::none;
    std::vector<std::int64_t> severities = {3};
    bool operator==(const SiteShift&) const = default;
  };
  std::vector<std::int64_t> batches = {128};  ///< number of a site's samples that are corrected together
  std::int64_t quantiles = 64;                ///< number of quantiles per unit that describe a distribution
  double label_alpha = 0;         ///< concentration of class shares that are evaluated in addition, drawn per site from
                                  ///< Dir(label_alpha); 0: none
  std::vector<SiteShift> shifts;  ///< evaluated shifts, in addition to the unchanged data
  bool operator==(const EvaluationSpec&) const = default;
};

/// Metric by which a scenario compares its runs.
enum class AskedMetric : std::uint8_t {
  automatic,   ///< time to accuracy or to a budget, if known; otherwise throughput
  throughput,  ///< tokens, or samples, per second
  per_money,   ///< tokens, or samples, per money
  per_energy,  ///< tokens, or samples, per energy
};
constexpr auto names_of(AskedMetric) {
  using enum AskedMetric;
  return std::to_array<Name<AskedMetric>>(
      {{automatic, "auto"}, {throughput, "throughput"}, {per_money, "per-money"}, {per_energy, "per-kwh"}});
}

}  // namespace dadsim::spec
