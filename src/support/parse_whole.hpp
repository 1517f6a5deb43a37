#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace dadsim {

/// Parses a text that is a number and nothing else, in C++ notation: no blanks, no plus sign, no unit. None if it is no
/// number, or outside the range of `Number`.
template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Does the same for a number from `least` to `most`.
template <class Number>
std::optional<Number> parse_whole(std::string_view text, Number least,
                                  Number most = std::numeric_limits<Number>::max()) {
  const std::optional<Number> value = parse_whole<Number>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

}  // namespace dadsim
