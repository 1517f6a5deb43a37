#pragma once

#include "scenario/elements/read_workload.hpp"
#include "scenario/language/node.hpp"

namespace dadsim::scenario {

/// What the file of a recorded step is called by its root.
inline constexpr const char* kRecordedStep = "recorded-step";

/// Reads <recorded-step>: computations with the seconds that they took and collectives with their bytes, in the order
/// in which every worker goes through them. Everything wrong goes to the findings.
OwnWorkload read_recorded_step(const Element& root, Findings& findings);

}  // namespace dadsim::scenario
