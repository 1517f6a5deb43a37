#pragma once

#include <string>

#include "step/operations.hpp"

namespace dadsim::report {

/// Writes a step in GOAL, the Group Operation Assembly Language (Hoefler, Siebert, Lumsdaine: Group Operation Assembly
/// Language, ICPP 2009). The text form is that of LogGOPSim's txt2bin (spcl/LogGOPSim, src/LogGOPSim/txt2bin.re). There
/// is a rank per node, with computations in nanoseconds on its cpu 0 and messages in bytes on its cpu 1. Messages of
/// less than a byte count as one byte.
std::string to_goal(const step::StepOperations& operations);

}  // namespace dadsim::report
