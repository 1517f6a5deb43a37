#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim kernel …`: what one product of matrices, or fused attention, takes on a device by itself.
void run_kernel_command(const std::vector<std::string>& arguments);

std::string usage_of_kernel();

}  // namespace dadsim::cli
