#include "cli/python_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "support/split.hpp"

namespace dadsim::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The folders of PYTHONPATH. An empty one would be the current folder.
void set_module_path() {
  namespace fs = std::filesystem;
  std::vector<std::string> folders;
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  const fs::path own = program.parent_path().parent_path() / "python";
  if (!none && fs::exists(own / "dadsim" / "remote.py", none)) folders.push_back(own.string());
  const std::string said = variable("PYTHONPATH");
  for (const std::string_view folder : split_at(said, ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  if (folders.empty()) {
    ::unsetenv("PYTHONPATH");
  } else {
    ::setenv("PYTHONPATH", fmt::format("{}", fmt::join(folders, ":")).c_str(), 1);
  }
}

}  // namespace

std::vector<std::string> python_command(const std::string& module, const std::string& argument) {
  set_module_path();
  const std::string named = variable("DADSIM_PYTHON");
  // As `python3 -P -m`, which Python has from 3.11 on.
  const std::string code = fmt::format(
      "import sys; sys.path[:] = [folder for folder in sys.path if folder]; from dadsim import {0}; "
      "sys.exit({0}.main(sys.argv[1]))",
      module);
  return {named.empty() ? "/usr/bin/python3" : named, "-c", code, argument};
}

}  // namespace dadsim::cli
