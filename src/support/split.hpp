#pragma once

#include <string_view>
#include <vector>

namespace dadsim {

/// The parts of a text between separators, empty ones too: one more than it has separators.
inline std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace dadsim
