#include "cli/templates.hpp"

#include <algorithm>
#include <stdexcept>

#include "cli/templates_text.hpp"

namespace dadsim::cli {
namespace {

constexpr std::string_view kSchemaOfTemplates = "../../../build/release/share/dadsim/scenario.xsd";

std::string between(std::string_view text, std::string_view before, std::string_view behind) {
  const std::size_t begin = text.find(before);
  const std::size_t end = begin == std::string_view::npos ? begin : text.find(behind, begin + before.size());
  if (end == std::string_view::npos) throw std::logic_error("a template without " + std::string(before));
  return std::string(text.substr(begin + before.size(), end - begin - before.size()));
}

void replace_all(std::string& text, const std::string& old, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += by.size())
    text.replace(at, old.size(), by);
}

/// Returns whether a name needs no escapes in comments and attributes.
bool is_plain(const std::string& name) {
  const bool known = std::ranges::all_of(name, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
  });
  return known && name.find("--") == std::string::npos && !name.ends_with('-');
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace

const std::vector<Template>& templates() {
  static const std::vector<Template> kAll = [] {
    std::vector<Template> all;
    for (const TemplateText& one : kTemplateTexts) {
      const std::string asked = between(one.scenario, "Ask it:", std::string(one.name) + ".xml");
      all.push_back({std::string(one.name), one.scenario, one.table,
                     between(one.scenario, "<description>", "</description>"),
                     asked.substr(std::min(asked.size(), asked.find_first_not_of(' ')))});
    }
    return all;
  }();
  return kAll;
}

const Template* find_template(const std::string& name) {
  const auto found = std::ranges::find(templates(), name, &Template::name);
  return found == templates().end() ? nullptr : &*found;
}

std::string scenario_of(const Template& one, const std::string& file, const std::string& table,
                        const std::string& schema) {
  std::string text(one.scenario);
  if (!one.table.empty()) replace_all(text, "file=\"" + one.name + ".csv\"", "file=\"" + escaped(table) + "\"");
  // Replaces the name in the comment that shows the command.
  if (is_plain(file)) replace_all(text, one.name + ".xml", file);
  replace_all(text, std::string(kSchemaOfTemplates), escaped(schema));
  return text;
}

}  // namespace dadsim::cli
