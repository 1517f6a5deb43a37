#pragma once

#include <string_view>

#include "report/text/paragraph.hpp"

namespace dadsim::cli {

/// Prints text to standard output, and escapes control characters on a terminal (see for_terminal). Throws OutputError
/// if writing fails.
void print(std::string_view text);

/// Prints a result. On a coloured terminal, the answer is bold and its assumptions are faint. Lines wider than the
/// terminal are broken at spaces.
void print(const report::Summary& summary);

/// Makes tables and sentences as wide as standard output is, if it is a terminal.
void fit_standard_output();

}  // namespace dadsim::cli
