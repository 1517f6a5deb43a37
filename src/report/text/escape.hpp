#pragma once

#include <string>
#include <string_view>

namespace dadsim::report {

/// Escapes `text` for HTML and XML, between tags and between the double quotes of an attribute.
std::string escaped(std::string_view text);

/// Quotes a text according to RFC 4180 if needed. Text that begins with =, +, -, @, a tab or a carriage return, and is
/// no number, gets a leading apostrophe: a spreadsheet would execute it otherwise (OWASP, CSV injection, 2023).
/// Spreadsheets hide the apostrophe.
std::string csv_field(std::string_view text);

/// Returns a number so that reading gives the same value; empty if not finite.
std::string csv_field(double value);

}  // namespace dadsim::report
