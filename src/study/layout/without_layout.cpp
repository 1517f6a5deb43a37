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

/// Returns the tag at `begin` without layout attributes. Appends the names of these attributes to `left_out`.
std::string tag_without(const std::string& text, std::size_t begin, std::size_t& end,
                        std::vector<std::string>& left_out) {
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
    const std::string_view attribute = std::string_view(text).substr(name, name_end - name);
    if (is_of_layout(attribute)) {
      left_out.emplace_back(attribute);
    } else {
      tag.append(text, gap, i - gap);
    }
  }
  end = i;
  return tag;
}

std::string split(const std::string& text, std::vector<std::string>& left_out) {
  const std::string tag = "<timed-as";
  std::string result;
  std::size_t at = 0;
  while (true) {
    const std::size_t found = text.find(tag, at);
    if (found == std::string::npos) break;
    result.append(text, at, found - at);
    result += tag_without(text, found, at, left_out);
  }
  return result.append(text, at, std::string::npos);
}

}  // namespace

std::string without_layout(const std::string& text) {
  std::vector<std::string> left_out;
  return split(text, left_out);
}

std::vector<std::string> taken_back(const std::string& text, const std::vector<std::string>& assignments) {
  std::vector<std::string> written, back;
  split(text, written);
  for (const std::string& name : written) {
    const std::string path = "timed-as." + name + "=";
    const auto sets = [&](const std::string& one) { return one.starts_with(path); };
    if (std::ranges::none_of(assignments, sets) && std::ranges::count(back, path) == 0) back.push_back(path);
  }
  return back;
}

bool sets_layout(const std::string& assignment) {
  const std::string path = "timed-as.";
  if (!assignment.starts_with(path)) return false;
  const std::size_t equals = std::min(assignment.find('='), assignment.size());
  return is_of_layout(std::string_view(assignment).substr(path.size(), equals - path.size()));
}

}  // namespace dadsim::study
