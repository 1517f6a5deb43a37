#include "scenario/document/differences.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenario/document/load.hpp"
#include "scenario/xml/element.hpp"
#include "scenario/xml/findings.hpp"

namespace dadsim::scenario {
namespace {

Element tree_of(const Scenario& scenario) {
  Findings findings(scenario.file);
  Element root = parse_xml(print_scenario(scenario), kScenarioDocument, findings);
  findings.throw_if_any();
  return root;
}

std::string attributes_in_words(const Element& element) {
  std::string text = element.name;
  for (const Attribute& attribute : element.attributes) text += fmt::format(" {}={}", attribute.name, attribute.value);
  return text;
}

/// Returns an element's part of a path: its name, and in brackets its label or, if it has none, its position among
/// several elements of the same name.
std::string step_of(const Element& parent, std::size_t child) {
  const Element& element = parent.children[child];
  const auto same_name = [&](const Element& other) { return other.name == element.name; };
  const auto end = parent.children.begin() + static_cast<std::ptrdiff_t>(child);
  const auto turn = 1 + std::count_if(parent.children.begin(), end, same_name);
  if (const Attribute* label = element.find("label")) return fmt::format("{}[{}]", element.name, label->value);
  if (std::ranges::count_if(parent.children, same_name) == 1) return element.name;
  return fmt::format("{}[{}]", element.name, turn);
}

class Comparer {
 public:
  void compare(const Element& a, const Element& b, const std::string& path) {
    for (const Attribute& attribute : a.attributes) {
      const Attribute* other = b.find(attribute.name);
      note(path, attribute.name, attribute.value, other == nullptr ? "" : other->value);
    }
    for (const Attribute& attribute : b.attributes) {
      if (a.find(attribute.name) == nullptr) note(path, attribute.name, "", attribute.value);
    }
    const auto child_of = [](const Element& parent, const std::string& step) -> const Element* {
      for (std::size_t i = 0; i < parent.children.size(); ++i) {
        if (step_of(parent, i) == step) return &parent.children[i];
      }
      return nullptr;
    };
    const auto below = [&](const std::string& step) { return path.empty() ? step : path + '.' + step; };
    for (std::size_t i = 0; i < a.children.size(); ++i) {
      const std::string step = step_of(a, i);
      if (const Element* other = child_of(b, step)) {
        compare(a.children[i], *other, below(step));
      } else {
        found_.push_back({below(step), attributes_in_words(a.children[i]), ""});
      }
    }
    for (std::size_t i = 0; i < b.children.size(); ++i) {
      const std::string step = step_of(b, i);
      if (child_of(a, step) == nullptr) found_.push_back({below(step), "", attributes_in_words(b.children[i])});
    }
  }

  std::vector<ScenarioDifference> take() { return std::move(found_); }

 private:
  void note(const std::string& path, const std::string& attribute, const std::string& before,
            const std::string& after) {
    if (before == after) return;
    found_.push_back({path.empty() ? attribute : path + '.' + attribute, before, after});
  }

  std::vector<ScenarioDifference> found_;
};

}  // namespace

std::vector<ScenarioDifference> differences(const Scenario& before, const Scenario& after) {
  Comparer comparer;
  comparer.compare(tree_of(before), tree_of(after), "");
  return comparer.take();
}

}  // namespace dadsim::scenario
