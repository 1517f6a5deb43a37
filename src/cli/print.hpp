#pragma once

#include <string_view>

namespace dadsim::cli {

/// Text for people, to standard output: what a terminal would obey is written out (see for_terminal). Throws
/// OutputError where that cannot be written.
void print(std::string_view text);

}  // namespace dadsim::cli
