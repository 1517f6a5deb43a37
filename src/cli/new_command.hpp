#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim new ARGUMENTS`: writes a scenario to begin with. Throws UsageError, OutputError.
void run_new_command(const std::vector<std::string>& arguments);

std::string usage_of_new();

}  // namespace dadsim::cli
