#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim compare …`: two scenarios, or one and the same with a change.
void run_compare_command(const std::vector<std::string>& arguments);

std::string usage_of_compare();

}  // namespace dadsim::cli
