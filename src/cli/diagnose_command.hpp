#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim diagnose …`: whether a measured time is normal, and what may be wrong.
void run_diagnose_command(const std::vector<std::string>& arguments);

std::string usage_of_diagnose();

}  // namespace dadsim::cli
