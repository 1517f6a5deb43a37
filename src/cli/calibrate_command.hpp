#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim calibrate ARGUMENTS`: fits a device to measured steps. Throws UsageError, InputError, OutputError.
void run_calibrate_command(const std::vector<std::string>& arguments);

std::string usage_of_calibrate();

}  // namespace dadsim::cli
