#pragma once

#include <cstddef>
#include <vector>

#include "report/run/retiming.hpp"

namespace dadsim::study {

using Point = std::vector<double>;                      ///< base-2 logarithms of factors, one a knob
using MetricMatrix = std::vector<std::vector<double>>;  ///< M of report::Retiming

/// To thousandths: short in a page, and the same number there as here.
double rounded(double value);

/// Number i of well spread points of the cube from −reach to reach, of at most four dimensions.
Point halton(std::size_t i, std::size_t knobs, double reach);

/// The middle, the corners, and the middles of the faces: what lies between is reached from all sides.
std::vector<Point> skeleton(std::size_t knobs, double reach);

/// What to choose from: distances shortened along the direction in which everything takes longer alike, and by the
/// speed of computing alone, which matters little to many runs.
std::vector<MetricMatrix> metrics_of(const std::vector<report::Retiming::Knob>& knobs);

}  // namespace dadsim::study
