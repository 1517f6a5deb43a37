#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim platform …`: says what a platform is like, and draws it. Throws as the whole program does.
void run_platform_command(const std::vector<std::string>& arguments);

std::string usage_of_platform();

}  // namespace dadsim::cli
