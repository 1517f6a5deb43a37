#pragma once

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace dadsim::models {

/// Without blanks at either end.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// The whole text as a number that a float can hold, or nullopt.
inline std::optional<double> number_in(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(std::abs(value) <= std::numeric_limits<float>::max())) return std::nullopt;
  return value;
}

}  // namespace dadsim::models
