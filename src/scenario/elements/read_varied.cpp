#include "scenario/elements/read_varied.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenario/xml/white_space.hpp"

namespace dadsim::scenario {
std::vector<std::string> values_of(const std::string& text) {
  if (text.find(';') == std::string::npos) return split_words(text);
  std::vector<std::string> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    values.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  while (!values.empty() && values.back().empty()) values.pop_back();
  return values;
}

std::string values_text(const std::vector<std::string>& values) {
  const bool plain = std::ranges::all_of(values, [](const std::string& value) {
    return !value.empty() && value.find_first_of(kWhiteSpace) == std::string::npos;
  });
  if (plain) return fmt::format("{}", fmt::join(values, " "));
  std::string text;
  for (const std::string& value : values) text += value + ";";
  return text;
}

void read_form(const Node& node, spec::VariedPath& varied) {
  constexpr const char* kForm = "{} once, where the value belongs, e.g. site-[1-{}]";
  if (node.has("unit")) {
    node.refuse("form", "stands beside unit=\"…\"", "form=\"{}Mbps\" is the same as unit=\"Mbps\"");
    const std::string unit = node.required_text("unit", "e.g. Mbps").value_or("");
    if (unit.find("{}") != std::string::npos) node.fail_at("unit", "holds {}", "form=\"…\" takes it");
    varied.form = "{}" + unit;
  } else if (node.has("form")) {
    varied.form = node.text("form", "");
    const std::size_t place = varied.form.find("{}");
    if (place == std::string::npos || varied.form.find("{}", place + 2) != std::string::npos)
      node.fail_at("form", "does not hold {} once", kForm);
  }
}

}  // namespace dadsim::scenario
