#pragma once

#include <optional>
#include <span>

namespace dadsim::estimate {

/// A predicted quantity with its measured value, in one unit.
struct PredictedMeasured {
  double predicted = 0, measured = 0;
  double error() const { return predicted / measured - 1; }
};

/// Returns Kendall's τ-a of predictions and measurements (Kendall: A New Measure of Rank Correlation, Biometrika 30,
/// 1938): pairs in the same order minus pairs in the opposite order, as a share of all pairs; ties count as neither. −1
/// to 1; none for fewer than two.
std::optional<double> kendall_tau(std::span<const PredictedMeasured> compared);

}  // namespace dadsim::estimate
