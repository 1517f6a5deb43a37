#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// What others know of dadsim: printed by `dadsim support NAME`, and installed where they look for it.
struct SupportFile {
  std::string name;  ///< "bash"
  std::string what;  ///< for the usage text
  std::string (*text)();
};

const std::vector<SupportFile>& support_files();

/// `dadsim support ARGUMENTS`. Throws UsageError, OutputError.
void run_support_command(const std::vector<std::string>& arguments);

std::string usage_of_support();

}  // namespace dadsim::cli
