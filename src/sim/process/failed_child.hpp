#pragma once

#include <string>

#include "sim/process/child_process.hpp"

namespace dadsim::sim {

/// Throws std::runtime_error if the child crashed, which is never a result of the simulation.
void throw_if_crashed(const ChildOutcome& outcome);

/// Returns why a simulating child failed: the `reported` reason, or SimGrid's last words; may be empty. Throws as
/// throw_if_crashed.
std::string failure_of(const ChildOutcome& outcome, std::string reported);

}  // namespace dadsim::sim
