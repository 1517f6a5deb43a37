#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// What stands behind `dadsim compose`.
void run_compose_command(const std::vector<std::string>& arguments);
std::string usage_of_compose();

}  // namespace dadsim::cli
