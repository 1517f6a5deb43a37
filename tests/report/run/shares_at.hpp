#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "report/run/retiming.hpp"

namespace dadsim::report {

/// Returns the shares of the critical path by kind, from 0 to 1, as the script of a page does: those of the nearest
/// points, weighted by distance⁻⁴.
inline std::vector<double> shares_at(const Retiming& retiming, std::size_t run, const std::vector<double>& at) {
  constexpr double kOnThePoint = 1e-6;  // squared distance below which a point counts as hit
  std::vector<double> shares(retiming.kinds.size());
  double sum = 0;
  for (std::size_t i = 0; i < retiming.points.size(); ++i) {
    double square = kOnThePoint;
    for (std::size_t k = 0; k < at.size(); ++k) square += std::pow(at[k] - retiming.points[i][k], 2);
    const double weight = 1 / (square * square);
    sum += weight;
    for (std::size_t k = 0; k < shares.size(); ++k) shares[k] += weight * retiming.runs.at(run).shares[i][k];
  }
  for (double& share : shares) share /= 100 * sum;
  return shares;
}

}  // namespace dadsim::report
