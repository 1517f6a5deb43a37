#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace dadsim::estimate {

/// Returns Student's t for a two-sided interval of `level` (0.95: t(0.975, freedom)), with `freedom` of at least 1.
/// Half the interval is t times the standard error.
double student_t(std::int64_t freedom, double level = 0.95);

/// Returns the two-sided p-value of Student's t.
double student_tails(double t, std::int64_t freedom);

/// A predicted quantity and its measured value, in the same unit.
struct PredictedMeasured {
  double predicted = 0, measured = 0;
  double error() const { return predicted / measured - 1; }
};

/// Returns Kendall's τ-a of predictions and measurements (Kendall: A New Measure of Rank Correlation, Biometrika 30,
/// 1938): pairs in the same order minus pairs in the opposite order, ÷ all pairs; ties count as neither. −1 to 1; none
/// for fewer than two predictions.
std::optional<double> kendall_tau(std::span<const PredictedMeasured> compared);

}  // namespace dadsim::estimate
