#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim import` with its arguments. Throws UsageError, InputError, OutputError.
void run_import_command(const std::vector<std::string>& arguments);

std::string usage_of_import();

}  // namespace dadsim::cli
