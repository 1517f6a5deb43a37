#include "report/csv_field.hpp"

#include <fmt/format.h>

#include <cmath>

namespace dadsim::report {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

std::string csv_field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }

}  // namespace dadsim::report
