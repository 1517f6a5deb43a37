#pragma once

#include "step/timeline.hpp"
#include "step/timing.hpp"
#include "support/wire.hpp"

// What a simulation found, on its way from the process that simulates: both ends are of one build, so enumerations
// travel as their numbers. Reading throws std::out_of_range where a message ends too early.

namespace dadsim::step {

void pack(WireWriter& message, const StepTiming& timing);
StepTiming unpack_timing(WireReader& message);

void pack(WireWriter& message, const NetworkUse& use);
NetworkUse unpack_network(WireReader& message);

void pack(WireWriter& message, const Timeline& timeline);
Timeline unpack_timeline(WireReader& message);

}  // namespace dadsim::step
