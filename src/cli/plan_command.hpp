#pragma once

#include <string>
#include <vector>

namespace dadsim {

/// `dadsim plan ARGUMENTS`: how the <goal> of a scenario can be reached. Throws UsageError, InputError,
/// SimulationError, OutputError, Cancelled.
void run_plan_command(const std::vector<std::string>& arguments);

}  // namespace dadsim
