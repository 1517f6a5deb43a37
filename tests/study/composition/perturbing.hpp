#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "spec/preset.hpp"
#include "study/composition/drawing.hpp"

namespace dadsim::study {

using test::Element;
using test::Texts;

/// Location of an attribute in a scenario, and a name that is the same in all scenarios: "training.batch",
/// "rank-dad(cap)", "top-k(fraction)", "vit(patch)".
struct AttributePlace {
  std::vector<std::size_t> children;  ///< indices of children from the root to the element
  std::string attribute;
  std::string key;

  Element& in(Element& root) const {
    Element* at = &root;
    for (const std::size_t child : children) at = &at->children.at(child);
    return *at;
  }
};

/// Returns the method, compressor or preset whose parameters are also attributes of the element; "": none.
inline std::string owner_of(const Element& element) {
  for (const auto& [name, attribute] : {std::pair{"run", "algorithm"}, {"compress", "method"}, {"model", "preset"}}) {
    if (element.name != name) continue;
    const scenario::Attribute* owner = element.find(attribute);
    return owner == nullptr ? "" : owner->value;
  }
  return "";
}

inline std::string key_of(const Element& element, const std::string& attribute) {
  const scenario::ElementRule* rule = scenario::find_rule(element.name);
  if (rule != nullptr && rule->find(attribute) != nullptr) return element.name + "." + attribute;
  return fmt::format("{}({})", owner_of(element), attribute);
}

inline void add_places(const Element& element, std::vector<std::size_t>& path, std::vector<AttributePlace>& places) {
  for (const scenario::Attribute& one : element.attributes)
    places.push_back({path, one.name, key_of(element, one.name)});
  for (std::size_t i = 0; i < element.children.size(); ++i) {
    path.push_back(i);
    add_places(element.children[i], path, places);
    path.pop_back();
  }
}

inline std::vector<AttributePlace> places_of(const Element& root) {
  std::vector<AttributePlace> places;
  std::vector<std::size_t> path;
  add_places(root, path, places);
  return places;
}

inline const spec::ParameterSpec* find_parameter(const std::vector<spec::ParameterSpec>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &spec::ParameterSpec::name);
  return found == all.end() ? nullptr : &*found;
}

/// Returns the parameter that an attribute sets; null for attributes of the language itself.
inline const spec::ParameterSpec* parameter_of(const Element& element, const std::string& attribute,
                                               const scenario::Catalog& catalog) {
  const std::string owner = owner_of(element);
  if (element.name == "run") {
    const auto found = std::ranges::find(catalog.algorithms, owner, &methods::MethodInfo::name);
    return found == catalog.algorithms.end() ? nullptr : find_parameter(found->parameters, attribute);
  }
  if (element.name == "compress") {
    const auto found = std::ranges::find(catalog.compressors, owner, &scenario::Catalog::Compressor::name);
    return found == catalog.compressors.end() ? nullptr : find_parameter(found->parameters, attribute);
  }
  const spec::Preset* preset = owner.empty() ? nullptr : spec::preset_registry().find(owner);
  return preset == nullptr ? nullptr : find_parameter(preset->parameters, attribute);
}

/// Returns other values that the attribute accepts; "" stands for leaving out an optional attribute.
inline Texts others_of(const Element& element, const std::string& attribute, const test::Drawing& draw) {
  Texts values;
  std::string fallback;
  bool required = false;
  const scenario::AttributeRule* rule = scenario::find_rule(element.name)->find(attribute);
  if (rule != nullptr) {
    values = draw.values_of(element.name, *rule);
    required = rule->required;
    fallback = rule->fallback;
  } else if (const spec::ParameterSpec* parameter = parameter_of(element, attribute, draw.catalog())) {
    values = test::Drawing::values_of(*parameter);
    fallback = parameter->default_value;
  }
  // Without these attributes, the default would be thousands of samples, or an hour of sensor data.
  const bool is_short = attribute == "train" || attribute == "test" || attribute == "duration";
  // Leaving the attribute out is tried too, unless its value is the default.
  if (!required && !is_short && element.find(attribute)->value != fallback) values.emplace_back();
  std::erase(values, element.find(attribute)->value);
  return values;
}

inline Element with(const Element& root, const AttributePlace& place, const std::string& value) {
  Element changed = root;
  Element& element = place.in(changed);
  std::erase_if(element.attributes, [&](const scenario::Attribute& one) { return one.name == place.attribute; });
  if (!value.empty()) test::Drawing::set(element, place.attribute, value);
  return changed;
}

}  // namespace dadsim::study
