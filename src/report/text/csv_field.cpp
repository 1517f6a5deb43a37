#include "report/text/csv_field.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace dadsim::report {

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
