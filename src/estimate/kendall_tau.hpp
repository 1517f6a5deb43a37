#pragma once

#include <optional>
#include <span>

namespace dadsim::estimate {

/// A quantity beside what was measured of it, both of one unit.
struct PredictedMeasured {
  double predicted = 0, measured = 0;
  double error() const { return predicted / measured - 1; }
};

/// Kendall's τ-a of what is predicted and what was measured (Kendall: A New Measure of Rank Correlation, Biometrika 30,
/// 1938): the pairs in the same order less those in the other, as a share of all pairs, so that ties count as neither.
/// −1 to 1; none of fewer than two.
std::optional<double> kendall_tau(std::span<const PredictedMeasured> compared);

}  // namespace dadsim::estimate
