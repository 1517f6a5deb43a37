#pragma once

#include <string>
#include <string_view>

namespace dadsim::report {

/// Quoted as RFC 4180 asks, where the text needs it. A spreadsheet runs what begins with =, +, -, @, a tab or a
/// carriage return: such a text, unless it is a number, has an apostrophe before it (OWASP, CSV injection, 2023), which
/// a spreadsheet does not show.
std::string csv_field(std::string_view text);

/// Reads back as the same number; what is not finite is left empty.
std::string csv_field(double value);

}  // namespace dadsim::report
