#pragma once

#include <string>

namespace dadsim::cli {

/// Debian's Python, of which the module is; another one where DADSIM_PYTHON names it.
std::string python_program();

/// For processes that are started from here: a module that was built beside this program comes before an installed
/// one, which may be of another build.
void prefer_module_beside_program();

}  // namespace dadsim::cli
