#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace dadsim {

/// A text that is a number and nothing else, as C++ writes numbers: no blanks, no plus sign, no unit. Nothing where it
/// is none, or one that `Number` does not hold.
template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The same where the number is from `least` to `most`.
template <class Number>
std::optional<Number> parse_whole(std::string_view text, Number least,
                                  Number most = std::numeric_limits<Number>::max()) {
  const std::optional<Number> value = parse_whole<Number>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

}  // namespace dadsim
