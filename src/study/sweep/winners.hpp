#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/efficiency.hpp"
#include "study/sweep/results.hpp"

namespace dadsim::study {

/// How long a run of a point takes to the target, over its seeds.
struct TimeToTarget {
  std::string label;
  std::optional<estimate::Estimate>
      seconds;  ///< mean with its 95 % interval; none unless every seed reaches the target
};

/// A point decided: its runs, quickest first. The ends that algorithms are measured against take no part where there
/// are others, nor do event-driven runs at scale. At scale where the steps of what is timed are known, else on the
/// network that learned.
struct PointOutcome {
  std::size_t point = 0;             ///< index among SweepResults::points
  std::vector<TimeToTarget> ranked;  ///< those that reach the target by time, then the others; empty: failed or open
  bool at_scale = false;
  bool won() const { return !ranked.empty() && ranked.front().seconds.has_value(); }
};

/// The outcome of every point, in order.
std::vector<PointOutcome> outcomes(const SweepResults& results);

}  // namespace dadsim::study
