#include "scenario/language/overrides.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenario/language/node.hpp"
#include "scenario/language/rule.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::scenario {
namespace {

/// One step of a path, `run[rank-dad]`: a name and, in brackets, a selector of one element among several.
struct Component {
  std::string name;
  std::optional<std::string> selector;
};

constexpr const char* kAssignmentForm = "path=value, e.g. training.batch=64";

/// Returns the position of the bracket that closes the bracket at `open`. A selector may itself contain brackets
/// (hosts).
std::size_t closing_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// Splits at dots outside brackets, because a label may contain dots. Returns nullopt if brackets or names are missing.
std::optional<std::vector<Component>> parse_path(std::string_view path) {
  std::vector<Component> components;
  std::size_t i = 0;
  while (true) {
    Component component;
    const std::size_t name_end = std::min(path.find_first_of(".[", i), path.size());
    component.name = path.substr(i, name_end - i);
    i = name_end;
    if (i < path.size() && path[i] == '[') {
      const std::size_t close = closing_bracket(path, i);
      if (close == std::string_view::npos) return std::nullopt;
      component.selector = path.substr(i + 1, close - i - 1);
      i = close + 1;
    }
    if (component.name.empty() || (component.selector && component.selector->empty())) return std::nullopt;
    components.push_back(std::move(component));
    if (i == path.size()) return components;
    if (path[i] != '.') return std::nullopt;
    ++i;
  }
}

class Override {
 public:
  Override(Element& scenario, const std::string& text, Findings& findings)
      : scenario_(scenario),
        findings_(findings),
        origin_{(text.starts_with("--") ? "" : "--set ") + printable(text), 0} {}

  void apply(const std::string& text) {
    const std::size_t equals = assignment(text);
    if (equals == std::string::npos) return fail("not of the form path=value", kAssignmentForm);
    const std::optional<std::vector<Component>> path = parse_path(std::string_view(text).substr(0, equals));
    if (!path)
      return fail("the path is not valid",
                  "use names with dots between them and selectors in brackets, e.g. run[2].cap=4");
    const std::string value = text.substr(equals + 1);
    if (!is_xml_text(value)) return fail("the value is not UTF-8 text without control characters", kAssignmentForm);

    std::vector<Element*> targets{&scenario_};
    const ElementRule* rule = find_rule("scenario");
    for (std::size_t i = 0; i + 1 < path->size(); ++i) {
      const Component& component = (*path)[i];
      if (std::ranges::find(rule->children, component.name) == rule->children.end()) {
        return unknown_element(*rule, component.name);
      }
      rule = find_rule(component.name);
      std::vector<Element*> next;
      for (Element* target : targets) {
        if (!descend(*target, *rule, component, next)) return;
      }
      targets = std::move(next);
    }
    const Component& last = path->back();
    if (last.selector)
      return fail(fmt::format("'{}' ends at an element", path_text(*path)), attribute_example(last.name));
    // A path that ends at a name is the attribute, even if an element has the same name.
    const bool is_attribute = rule->find(last.name) != nullptr ||
                              std::ranges::find(rule->shared_names, last.name) != rule->shared_names.end();
    if (!is_attribute && std::ranges::find(rule->children, last.name) != rule->children.end()) {
      return fail(fmt::format("<{}> is an element", last.name), attribute_example(last.name));
    }
    for (Element* target : targets) write(*target, last.name, value);
  }

 private:
  void fail(std::string what, std::string remedy) { findings_.add(origin_, std::move(what), std::move(remedy)); }

  /// Returns the position of the '=' outside brackets; npos if there is none.
  static std::size_t assignment(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '=') return i;
      if (text[i] != '[') continue;
      i = closing_bracket(text, i);
      if (i == std::string_view::npos) break;
    }
    return std::string_view::npos;
  }

  static std::string path_text(const std::vector<Component>& path) {
    std::string text;
    for (const Component& component : path) text += (text.empty() ? "" : ".") + component.name;
    return text;
  }

  static std::string attribute_example(const std::string& element) {
    const ElementRule* rule = find_rule(element);
    if (rule == nullptr) return "end the path with an attribute, e.g. training.batch=64";
    if (rule->text) return "only attributes can be set; edit the file";
    if (rule->attributes.empty()) return fmt::format("continue with one of {}", fmt::join(rule->children, ", "));
    return fmt::format("end the path with an attribute: {}", fmt::join(rule->attribute_names(), ", "));
  }

  void unknown_element(const ElementRule& parent, const std::string& name) {
    if (parent.find(name) != nullptr) {
      return fail(fmt::format("'{}' is an attribute of <{}> and has no parts", name, parent.name),
                  "end the path at this attribute");
    }
    if (parent.children.empty()) {
      return fail(fmt::format("<{}> holds no elements", parent.name), attribute_example(parent.name));
    }
    fail(fmt::format("no element '{}' in <{}>", printable(name), parent.name), suggestion(name, parent.children));
  }

  bool descend(Element& parent, const ElementRule& rule, const Component& component, std::vector<Element*>& found) {
    std::vector<Element*> same;
    for (Element& child : parent.children) {
      if (child.name == rule.name) same.push_back(&child);
    }
    if (same.empty()) {
      if (rule.repeatable || component.selector) {
        fail(fmt::format("there is no <{}> in the scenario", rule.name), "add the element to the file");
        return false;
      }
      parent.children.push_back({.name = rule.name, .origin = origin_});
      found.push_back(&parent.children.back());
      return true;
    }
    if (!component.selector) {
      if (same.size() > 1) {
        fail(fmt::format("there are {} <{}>", same.size(), rule.name), how_to_choose(same));
        return false;
      }
      found.push_back(same.front());
      return true;
    }
    return select(same, rule, *component.selector, found);
  }

  /// Selects elements by number, by '*', or by label, algorithm, name or hosts, whichever matches first.
  bool select(const std::vector<Element*>& same, const ElementRule& rule, const std::string& selector,
              std::vector<Element*>& found) {
    if (selector == "*") {
      found.insert(found.end(), same.begin(), same.end());
      return true;
    }
    if (std::ranges::all_of(selector, [](char c) { return c >= '0' && c <= '9'; })) {
      const auto index = parse_whole<std::size_t>(selector, 1, same.size());
      if (!index) {
        fail(fmt::format("no <{}> number {}", rule.name, printable(selector)),
             fmt::format("use a number from 1 to {}", same.size()));
        return false;
      }
      found.push_back(same[*index - 1]);
      return true;
    }
    std::vector<std::string> names;
    for (const char* key : {"label", "algorithm", "name", "hosts"}) {
      std::vector<Element*> fitting;
      for (Element* element : same) {
        const Attribute* attribute = element->find(key);
        if (attribute == nullptr) continue;
        const auto same_name = [&](const Element* other) {
          const Attribute* own = other->find(key);
          return own != nullptr && own->value == attribute->value;
        };
        const bool chooses = std::ranges::count_if(same, same_name) == 1;
        if (chooses && std::ranges::find(names, attribute->value) == names.end()) names.push_back(attribute->value);
        if (attribute->value == selector) fitting.push_back(element);
      }
      if (fitting.size() > 1) {
        std::vector<std::string> choices;
        for (std::size_t i = 0; i < same.size(); ++i) {
          if (std::ranges::find(fitting, same[i]) != fitting.end())
            choices.push_back(fmt::format("{}[{}]", rule.name, i + 1));
        }
        fail(fmt::format("{} <{}> have {}=\"{}\"", fitting.size(), rule.name, key, printable(selector)),
             fmt::format("choose one: {}", fmt::join(choices, ", ")));
        return false;
      }
      if (fitting.size() == 1) {
        found.push_back(fitting.front());
        return true;
      }
    }
    fail(fmt::format("no <{}> is called '{}'", rule.name, printable(selector)), suggestion(selector, names));
    return false;
  }

  static std::string how_to_choose(const std::vector<Element*>& same) {
    const std::string& name = same.front()->name;
    std::string text = fmt::format("choose one with {0}[1] … {0}[{1}]", name, same.size());
    for (const char* key : {"label", "algorithm", "name", "hosts"}) {
      if (const Attribute* attribute = same.front()->find(key)) {
        text += fmt::format(" or {}[{}]", name, printable(attribute->value));
        break;
      }
    }
    return text + fmt::format(", or all with {}[*]", name);
  }

  /// Sets the value; an empty value removes the attribute, so that its default applies.
  void write(Element& element, const std::string& name, const std::string& value) const {
    if (value.empty()) {
      std::erase_if(element.attributes, [&](const Attribute& attribute) { return attribute.name == name; });
      return;
    }
    for (Attribute& attribute : element.attributes) {
      if (attribute.name == name) {
        attribute.value = value;
        attribute.origin = origin_;
        return;
      }
    }
    element.attributes.push_back({name, value, origin_});
  }

  Element& scenario_;
  Findings& findings_;
  Origin origin_;
};

}  // namespace

void apply_override(Element& scenario, const std::string& text, Findings& findings) {
  Override(scenario, text, findings).apply(text.starts_with("--") ? text.substr(text.find(' ') + 1) : text);
}

bool is_override_path(const std::string& path) { return is_xml_text(path) && parse_path(path).has_value(); }

std::optional<Fault> fault_of_path(const Element& scenario, const std::string& path) {
  Findings findings("");
  Element some = scenario;
  apply_override(some, path + "=", findings);
  try {
    findings.throw_if_any();
  } catch (const InputError& error) {
    return Fault{error.diagnostics().front().what, error.diagnostics().front().remedy};
  }
  const std::vector<Component> components = *parse_path(path);
  const std::size_t count = components.size();
  const ElementRule& rule = *find_rule(count > 1 ? components[count - 2].name : "scenario");
  const std::string& name = components.back().name;
  if (rule.find(name) != nullptr || !rule.parameters.empty()) return std::nullopt;
  return Fault{fmt::format("unknown attribute '{}' of <{}>", printable(name), rule.name),
               suggestion(name, rule.attribute_names())};
}

std::string remedy_of_value(const spec::VariedPath& varied, const Diagnostic& refused) {
  const bool is_range = varied.values.empty() && !varied.whole;
  return is_range && refused.what.ends_with(kNotWhole) ? "add whole=\"true\" to this range" : refused.remedy;
}

}  // namespace dadsim::scenario
