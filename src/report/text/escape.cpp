#include "report/text/escape.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace dadsim::report {

std::string escaped(std::string_view text) {
  std::string html;
  html.reserve(text.size() + text.size() / 16);
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        // Other control characters are not allowed in XML.
        if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') html += c;
    }
  }
  return html;
}

std::string csv_field(std::string_view given) {
  double number = 0;
  const char* end = given.data() + given.size();
  const bool is_number = std::from_chars(given.data(), end, number).ptr == end;
  const bool runs =
      !given.empty() && !is_number && std::string_view("=+-@\t\r").find(given.front()) != std::string_view::npos;
  std::string text = (runs ? "'" : "") + std::string(given);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

std::string csv_field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }

}  // namespace dadsim::report
