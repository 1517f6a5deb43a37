#pragma once

#include <string>

namespace dadsim::cli {

/// The manual page dadsim(1), as groff reads it: made of what --help says of the program and of each command.
std::string manual_page();

}  // namespace dadsim::cli
