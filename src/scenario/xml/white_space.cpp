#include "scenario/xml/white_space.hpp"

#include <algorithm>

namespace dadsim::scenario {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1));
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t i = 0;
  while ((i = text.find_first_not_of(kWhiteSpace, i)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kWhiteSpace, i), text.size());
    words.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

}  // namespace dadsim::scenario
