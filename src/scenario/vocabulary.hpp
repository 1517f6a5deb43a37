#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dadsim::scenario {

/// What an element of the language may hold by name; how often and of what kind is said where it is read. Names are
/// unique over the whole language.
struct ElementRule {
  std::string name;
  std::vector<std::string> attributes{};
  std::vector<std::string> children{};
  bool root = false;           ///< of a document: no element holds it
  bool repeatable = false;     ///< may stand several times in its parent; --set names one of them, as run[2]
  bool any_attribute = false;  ///< further attributes are parameters of an algorithm or a preset
  bool text = false;           ///< holds text
};

/// Every element, as scenario.xsd declares it and in its order.
const std::vector<ElementRule>& vocabulary();

/// The rule of that element, or nullptr.
const ElementRule* find_rule(std::string_view name);

}  // namespace dadsim::scenario
