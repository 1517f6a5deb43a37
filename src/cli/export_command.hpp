#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim export` with its arguments. Throws UsageError, InputError, OutputError, sim::SimulationError, Cancelled.
void run_export_command(const std::vector<std::string>& arguments);

std::string usage_of_export();

}  // namespace dadsim::cli
