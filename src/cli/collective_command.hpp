#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim collective …`: times a collective on a platform, size by size. Throws as the whole program does.
void run_collective_command(const std::vector<std::string>& arguments);

}  // namespace dadsim::cli
