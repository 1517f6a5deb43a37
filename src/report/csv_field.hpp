#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

namespace dadsim::report {

/// Quoted as RFC 4180 asks, where the text needs it.
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

/// Reads back as the same number; what is not finite is left empty.
inline std::string csv_field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }

}  // namespace dadsim::report
