#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "support/parse_whole.hpp"

namespace dadsim::models {

/// Returns the text without blanks at either end.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Returns the whole text as a number that fits a float, or nullopt.
inline std::optional<double> number_in(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const std::optional<double> value = parse_whole<double>(text);
  return value && std::abs(*value) <= std::numeric_limits<float>::max() ? value : std::nullopt;
}

}  // namespace dadsim::models
