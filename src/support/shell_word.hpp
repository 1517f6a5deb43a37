#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace dadsim {

/// Returns the text as one word for a shell: between single quotes no character is special (POSIX, 2.2.2). For commands
/// that a user may paste, with names that may come from an untrusted file.
inline std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-=:,+%@").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace dadsim
