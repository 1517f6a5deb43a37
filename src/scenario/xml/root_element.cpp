#include "scenario/xml/root_element.hpp"

#include <algorithm>

#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

/// Returns the position after the next `end` from `from` on, npos if there is none.
std::size_t after(std::string_view text, std::string_view end, std::size_t from) {
  const std::size_t found = text.find(end, from);
  return found == std::string_view::npos ? found : found + end.size();
}

/// Returns the position after the ">" that closes the declaration at `from`, ignoring quotes, comments and an internal
/// subset.
std::size_t after_declaration(std::string_view text, std::size_t from) {
  int brackets = 0;
  for (std::size_t i = from; i < text.size();) {
    if (text.substr(i).starts_with("<!--")) {
      i = after(text, "-->", i);
    } else if (text[i] == '"' || text[i] == '\'') {
      i = after(text, text.substr(i, 1), i + 1);
    } else {
      if (text[i] == '[') ++brackets;
      if (text[i] == ']') --brackets;
      if (text[i] == '>' && brackets <= 0) return i + 1;
      ++i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<RootElement> find_root_element(std::string_view document) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::size_t i = document.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (true) {
    i = i < document.size() ? document.find_first_not_of(kWhiteSpace, i) : std::string_view::npos;
    if (i == std::string_view::npos || document[i] != '<') return std::nullopt;
    const std::string_view rest = document.substr(i);
    if (rest.starts_with("<?")) {
      i = after(document, "?>", i);
    } else if (rest.starts_with("<!--")) {
      i = after(document, "-->", i);
    } else if (rest.starts_with("<!")) {
      i = after_declaration(document, i);
    } else {
      const std::size_t end = std::min(rest.find_first_of(" \t\r\n/>", 1), rest.size());
      if (end == 1) return std::nullopt;
      const auto line = 1 + std::count(document.begin(), document.begin() + static_cast<std::ptrdiff_t>(i), '\n');
      return RootElement{std::string(rest.substr(1, end - 1)), static_cast<int>(line)};
    }
  }
}

}  // namespace dadsim::scenario
