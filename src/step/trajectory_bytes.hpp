#pragma once

#include "spec/layer_shape.hpp"
#include "step/trajectory.hpp"
#include "support/wire.hpp"

// What was learned as bytes, to be kept and read again by the same build. Enumerations are written as their numbers:
// whoever reorders one raises kTrajectoryFormat.

namespace dadsim::step {

inline constexpr std::uint32_t kTrajectoryFormat = 5;

void write_trajectory(WireWriter& bytes, const Trajectory& trajectory);
/// Throws std::out_of_range where the bytes end too early, or hold a number that means nothing.
Trajectory read_trajectory(WireReader& bytes);

void write_shape(WireWriter& bytes, const spec::ModelShape& shape);
spec::ModelShape read_shape(WireReader& bytes);

}  // namespace dadsim::step
