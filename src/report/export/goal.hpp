#pragma once

#include <string>

#include "step/operations.hpp"

namespace dadsim::report {

/// A step in GOAL, the Group Operation Assembly Language (Hoefler, Siebert, Lumsdaine: Group Operation Assembly
/// Language, ICPP 2009), in the text form that LogGOPSim's txt2bin reads (spcl/LogGOPSim, src/LogGOPSim/txt2bin.re):
/// a rank per node, computations in nanoseconds on its cpu 0, messages in bytes on its cpu 1. Messages of less than a
/// byte have one.
std::string to_goal(const step::StepOperations& operations);

}  // namespace dadsim::report
