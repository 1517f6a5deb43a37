#include "study/layout/without_layout.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "spec/parallelism.hpp"

namespace dadsim::study {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

bool is_of_layout(std::string_view name) {
  return std::ranges::find(spec::kLayoutAttributes, name) != spec::kLayoutAttributes.end();
}

/// The tag from `begin` on, up to its end, without the attributes.
std::string tag_without(const std::string& text, std::size_t begin, std::size_t& end) {
  std::string tag;
  std::size_t i = begin;
  while (i < text.size() && text[i] != '>') {
    if (!is_space(text[i])) {
      tag += text[i++];
      continue;
    }
    const std::size_t gap = i;
    while (i < text.size() && is_space(text[i])) ++i;
    const std::size_t name = i;
    while (i < text.size() && !is_space(text[i]) && text[i] != '=' && text[i] != '>' && text[i] != '/') ++i;
    const std::size_t name_end = i;
    const std::size_t equals = text.find_first_not_of(" \t\r\n", i);
    const std::size_t quote = equals == std::string::npos || text[equals] != '='
                                  ? std::string::npos
                                  : text.find_first_not_of(" \t\r\n", equals + 1);
    if (quote == std::string::npos || (text[quote] != '"' && text[quote] != '\'')) {
      tag.append(text, gap, i - gap);
      continue;
    }
    const std::size_t close = std::min(text.find(text[quote], quote + 1), text.size() - 1);
    i = close + 1;
    if (!is_of_layout(std::string_view(text).substr(name, name_end - name))) tag.append(text, gap, i - gap);
  }
  end = i;
  return tag;
}

}  // namespace

std::string without_layout(const std::string& text) {
  const std::string tag = "<timed-as";
  std::string result;
  std::size_t at = 0;
  while (true) {
    const std::size_t found = text.find(tag, at);
    if (found == std::string::npos) break;
    result.append(text, at, found - at);
    result += tag_without(text, found, at);
  }
  return result.append(text, at, std::string::npos);
}

bool sets_layout(const std::string& assignment) {
  const std::string path = "timed-as.";
  if (!assignment.starts_with(path)) return false;
  const std::size_t equals = std::min(assignment.find('='), assignment.size());
  return is_of_layout(std::string_view(assignment).substr(path.size(), equals - path.size()));
}

}  // namespace dadsim::study
