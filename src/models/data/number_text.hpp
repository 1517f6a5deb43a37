#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "support/parse_whole.hpp"

namespace dadsim::models {

/// Returns the whole text as a number that fits a float, or nullopt.
inline std::optional<double> number_in(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const std::optional<double> value = parse_whole<double>(text);
  return value && std::abs(*value) <= std::numeric_limits<float>::max() ? value : std::nullopt;
}

}  // namespace dadsim::models
