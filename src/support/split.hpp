#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

// Functions to split text. A std::istream would swallow a bad_alloc, and treat it as the end of the text.
namespace dadsim {

/// White space as XML defines it.
inline constexpr std::string_view kWhiteSpace = " \t\r\n";

/// Returns the text without white space at either end.
inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(kWhiteSpace), text.size());
  return text.substr(first, text.find_last_not_of(kWhiteSpace) + 1 - first);
}

/// Returns the parts of a text between separators, including empty ones: one more part than separators.
inline std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// Iterates over the lines of a text, without memory for a list.
class LineIterator {
 public:
  using value_type = std::string_view;
  using difference_type = std::ptrdiff_t;
  LineIterator(std::string_view text, char newline) : rest_(text), newline_(newline), end_(text.find(newline)) {}
  std::string_view operator*() const { return rest_.substr(0, end_); }
  LineIterator& operator++() {
    rest_.remove_prefix(std::min(end_, rest_.size() - 1) + 1);
    end_ = rest_.find(newline_);
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return rest_.empty(); }

 private:
  std::string_view rest_;
  char newline_;
  std::size_t end_;
};

/// Returns the lines of a text. A newline ends a line, so no empty line follows the last newline.
inline auto lines_of(std::string_view text, char newline = '\n') {
  return std::ranges::subrange(LineIterator(text, newline), std::default_sentinel);
}

/// Returns the words between blanks, including line ends.
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
