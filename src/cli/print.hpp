#pragma once

#include <string_view>

#include "report/text/paragraph.hpp"

namespace dadsim::cli {

/// Text for people, to standard output: what a terminal would obey is written out (see for_terminal). Throws
/// OutputError where that cannot be written.
void print(std::string_view text);

/// A result: its answer bold and what it rests on faint, where standard output is a terminal that is coloured. Lines
/// that are wider than a terminal are broken at spaces.
void print(const report::Summary& summary);

/// Makes tables and sentences as wide as standard output is, if it is a terminal.
void fit_standard_output();

}  // namespace dadsim::cli
