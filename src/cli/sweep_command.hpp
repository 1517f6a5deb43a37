#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim sweep …`: runs a scenario at every point of its <sweep>. Throws as the whole program does.
void run_sweep_command(const std::vector<std::string>& arguments);

/// `dadsim merge …`: puts the shards of a sweep together. Throws as the whole program does.
void run_merge_command(const std::vector<std::string>& arguments);

std::string usage_of_sweep();
std::string usage_of_merge();

}  // namespace dadsim::cli
