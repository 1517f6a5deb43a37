#pragma once

#include <cstddef>
#include <vector>

namespace dadsim::study {

/// Polyharmonic spline through values at scattered points, as in report::Retiming. *Requires* distinct points that do
/// not all lie in one plane.
class Spline {
 public:
  /// Fits the spline. `metric`: matrix M of report::Retiming.
  Spline(const std::vector<std::vector<double>>& points, const std::vector<std::vector<double>>& metric);

  /// Returns w_1 … w_n, v_0, v_1 … v_d.
  std::vector<double> weights(const std::vector<double>& values) const;

  /// Returns the root mean square of the leave-one-out errors: the distance of each value from the spline through all
  /// others (Rippa, Advances in Computational Mathematics 11, 1999: w_i ÷ the i-th of the inverse matrix's diagonal).
  double error_left_out(const std::vector<double>& weights) const;

 private:
  std::vector<double> solve(std::vector<double> right) const;

  std::size_t points_;
  std::vector<std::vector<double>> rows_;  ///< rows of L and U, where P A = L U with the pivots below
  std::vector<std::size_t> pivots_;
  std::vector<double> inverse_diagonal_;  ///< per point
};

}  // namespace dadsim::study
