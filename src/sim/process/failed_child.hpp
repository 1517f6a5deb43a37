#pragma once

#include <string>

#include "sim/process/child_process.hpp"

namespace dadsim::sim {

/// Throws std::runtime_error where it crashed, which is never a finding about what was simulated.
void throw_if_crashed(const ChildOutcome& outcome);

/// Why a child that simulated did not come to its end: what it `told`, or SimGrid's last words; may be empty. Throws as
/// above.
std::string failure_of(const ChildOutcome& outcome, std::string reported);

}  // namespace dadsim::sim
