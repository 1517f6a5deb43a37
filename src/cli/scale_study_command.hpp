#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim scale-study`: what comes after its name. Throws UsageError, and what the study throws.
void run_scale_study_command(const std::vector<std::string>& arguments);
std::string usage_of_scale_study();

}  // namespace dadsim::cli
