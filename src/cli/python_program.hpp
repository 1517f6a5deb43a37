#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// The words of a command that calls `main(argument)` of a module of the Python package `dadsim`. Python is Debian's,
/// or the one that DADSIM_PYTHON names. Nothing is imported from the current folder, which may be a stranger's. Sets
/// PYTHONPATH, so that a package that was built next to this program comes before an installed one.
std::vector<std::string> python_command(const std::string& module, const std::string& argument);

}  // namespace dadsim::cli
