#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

// Texts are taken apart with these and not with a std::istream, which swallows a bad_alloc and takes the text to end
// there.
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

/// The lines of a text. A newline ends one: behind the last there is none.
inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split_at(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

/// What stands between blanks, ends of lines among them.
inline std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  std::vector<std::string> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) return words;
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

}  // namespace dadsim
