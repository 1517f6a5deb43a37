#pragma once

#include <string>

namespace dadsim::cli {

/// Finds the program `dot` of Graphviz. Throws OutputError with the name of the package if it is not in PATH.
std::string find_dot();

/// Draws `source`, a text in the language of Graphviz, with the program `dot`. Throws OutputError with the message of
/// `dot` if drawing fails, Cancelled after an interrupt.
std::string draw_svg(const std::string& dot, const std::string& source);

}  // namespace dadsim::cli
