#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim layout …`: how a network is best divided among the devices of a scenario.
void run_layout_command(const std::vector<std::string>& arguments);

std::string usage_of_layout();

}  // namespace dadsim::cli
