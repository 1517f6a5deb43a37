#pragma once

#include <string>
#include <string_view>

namespace dadsim::report {

/// Escapes `text` for HTML and XML, between tags and between the double quotes of an attribute.
std::string escaped(std::string_view text);

/// Quotes a text according to RFC 4180 if needed. A spreadsheet executes text that begins with =, +, -, @, a tab or a
/// carriage return. Such text, unless it is a number, gets a leading apostrophe (OWASP, CSV injection, 2023), which a
/// spreadsheet hides.
std::string csv_field(std::string_view text);

/// Writes a number that reads back as the same value; empty if not finite.
std::string csv_field(double value);

}  // namespace dadsim::report
