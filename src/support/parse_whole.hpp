#pragma once

#include <charconv>
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

}  // namespace dadsim
