#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

std::string usage_of_validate();
void run_validate_command(const std::vector<std::string>& arguments);

/// Names of the published tables.
std::vector<std::string> tables_to_validate();

}  // namespace dadsim::cli
