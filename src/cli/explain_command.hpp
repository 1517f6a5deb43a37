#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim explain ARGUMENTS`: why the runs of a scenario take what they take, and what would help. Throws UsageError,
/// InputError, SimulationError, OutputError, Cancelled.
void run_explain_command(const std::vector<std::string>& arguments);

std::string usage_of_explain();

}  // namespace dadsim::cli
