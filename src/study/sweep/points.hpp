#pragma once

#include <string>
#include <vector>

#include "plan/sweep_specification.hpp"

namespace dadsim {

/// The texts that a point sets, in the order of varied_paths().
using PointValues = std::vector<std::string>;

/// All paths that are varied, axis by axis.
std::vector<const VariedPath*> varied_paths(const SweepSpec& sweep);

/// Every point of the sweep. Of a grid the last axis changes first. The same specification gives the same points.
std::vector<PointValues> lay_out(const SweepSpec& sweep);

}  // namespace dadsim
