#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenario/xml/findings.hpp"
#include "study/composition/perturbing.hpp"

namespace dadsim::study {

/// A scenario in which an attribute has an effect, for attributes that rarely have one in drawn scenarios. Examples: a
/// device's fp16 peak with fp16 precision, or sockets with messages that fill them.
struct Shape {
  std::string key;       ///< name of the attribute; a final * matches any ending
  std::string elements;  ///< XML elements of the scenario; one of {a|b} is drawn; empty: the elements are drawn as
                         ///< usual
  Texts others = {};     ///< values to change the attribute to; empty: values of its type
  bool alone = true;     ///< true: these are the only elements; false: they replace only elements of the same names
};

/// Returns the shape of that key, else the shape whose key is the longest matching prefix; null: none.
inline const Shape* find_shape(const std::vector<Shape>& shapes, const std::string& key) {
  const Shape* best = nullptr;
  for (const Shape& one : shapes) {
    const bool begins = one.key.ends_with('*') && key.starts_with(one.key.substr(0, one.key.size() - 1));
    if (one.key == key) return one.elements.empty() ? nullptr : &one;
    if (begins && (best == nullptr || one.key.size() > best->key.size())) best = &one;
  }
  return best;
}

/// Draws one alternative of every {a|b}.
inline std::string chosen(std::string text, test::Drawing& draw) {
  for (std::size_t from = text.find('{'); from != std::string::npos; from = text.find('{', from + 1)) {
    const std::size_t end = text.find('}', from);
    const std::string inside = text.substr(from + 1, end - from - 1);
    if (inside.find('|') == std::string::npos) continue;
    Texts choices;
    for (std::size_t at = 0; at <= inside.size();) {
      const std::size_t bar = std::min(inside.find('|', at), inside.size());
      choices.push_back(inside.substr(at, bar - at));
      at = bar + 1;
    }
    text.replace(from, end - from + 1, draw.one_of(choices));
  }
  return text;
}

/// Sets the attribute on the first element that accepts it; returns false if no element does.
inline bool give_attribute(Element& element, const std::string& key, test::Drawing& draw) {
  const std::size_t open = key.find('(');
  const std::string name =
      open == std::string::npos ? key.substr(key.find('.') + 1) : key.substr(open + 1, key.size() - open - 2);
  const bool is_it = open == std::string::npos ? element.name == key.substr(0, key.find('.'))
                                               : owner_of(element) == key.substr(0, open);
  if (is_it) {
    if (element.find(name) != nullptr) return true;
    Texts values;
    if (open == std::string::npos) {
      values = draw.values_of(element.name, *scenario::find_rule(element.name)->find(name));
    } else if (const spec::ParameterSpec* parameter = parameter_of(element, name, draw.catalog())) {
      values = test::Drawing::values_of(*parameter);
    }
    if (values.empty()) return false;
    test::Drawing::set(element, name, draw.one_of(values));
    return true;
  }
  return std::ranges::any_of(element.children, [&](Element& child) { return give_attribute(child, key, draw); });
}

/// Returns the drawn scenario with the shape's elements, and with the attribute set.
inline Element shaped(Element root, const Shape& shape, const std::string& key, test::Drawing& draw) {
  scenario::Findings findings("shapes.hpp");
  const std::string text = chosen(shape.elements, draw);
  const Element own =
      scenario::parse_xml("<scenario name=\"shape\">" + text + "</scenario>", scenario::kScenarioDocument, findings);
  if (own.children.empty()) throw std::logic_error("no XML: " + text);
  if (shape.alone) root.children.clear();
  for (const Element& one : own.children)
    std::erase_if(root.children, [&](const Element& other) { return other.name == one.name; });
  for (const Element& one : own.children) root.children.push_back(one);
  give_attribute(root, key, draw);
  return root;
}

}  // namespace dadsim::study
