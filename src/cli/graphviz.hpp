#pragma once

#include <string>

namespace dadsim::cli {

/// Returns the path of the program `dot` of Graphviz. Throws OutputError with the name of the package if it is not in
/// PATH.
std::string find_dot();

/// Returns a picture, as SVG, of `source`, a text in the language of Graphviz; draws it with the program at the path
/// `dot`. Throws OutputError with the program's message if drawing fails, Cancelled after an interrupt.
std::string draw_svg(const std::string& dot, const std::string& source);

}  // namespace dadsim::cli
