#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spec/sweep_specification.hpp"

namespace dadsim::study {

/// The texts that a point sets, in the order of varied_paths().
using PointValues = std::vector<std::string>;

/// All paths that are varied, axis by axis.
std::vector<const spec::VariedPath*> varied_paths(const spec::SweepSpec& sweep);

/// The points of a sweep, each worked out when it is asked for: a million of them take the memory of what was drawn.
/// The same specification gives the same points.
class PointLayout {
 public:
  explicit PointLayout(spec::SweepSpec sweep);
  std::size_t count() const { return count_; }
  /// Of a grid the last axis changes first.
  PointValues at(std::size_t point) const;

 private:
  spec::SweepSpec sweep_;
  std::size_t count_ = 0;
  std::vector<std::vector<double>> drawn_;  ///< per axis, a number in (0, 1) for each point
};

/// Every point of the sweep.
std::vector<PointValues> all_points(const spec::SweepSpec& sweep);

}  // namespace dadsim::study
