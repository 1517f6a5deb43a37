#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace dadsim {

/// Parses a text that consists of one number in C++ notation: no blanks, no plus sign, no unit. Returns none for any
/// other text, or outside the range of `Number`.
template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Parses a number like parse_whole(text); returns none also outside `least` … `most`.
template <class Number>
std::optional<Number> parse_whole(std::string_view text, Number least,
                                  Number most = std::numeric_limits<Number>::max()) {
  const std::optional<Number> value = parse_whole<Number>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

}  // namespace dadsim
