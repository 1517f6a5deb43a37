#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim plan ARGUMENTS`: how the <goal> of a scenario can be reached. Throws UsageError, InputError,
/// SimulationError, OutputError, Cancelled.
void run_plan_command(const std::vector<std::string>& arguments);

std::string usage_of_plan();

}  // namespace dadsim::cli
