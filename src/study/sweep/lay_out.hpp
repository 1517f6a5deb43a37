#pragma once

#include <string>
#include <vector>

#include "spec/sweep_specification.hpp"

namespace dadsim::study {

/// The texts that a point sets, in the order of varied_paths().
using PointValues = std::vector<std::string>;

/// All paths that are varied, axis by axis.
std::vector<const spec::VariedPath*> varied_paths(const spec::SweepSpec& sweep);

/// Every point of the sweep. Of a grid the last axis changes first. The same specification gives the same points.
std::vector<PointValues> lay_out(const spec::SweepSpec& sweep);

}  // namespace dadsim::study
