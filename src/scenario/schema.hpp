#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenario/element.hpp"

namespace dadsim {

/// The text of scenario.xsd, built in.
std::string_view scenario_schema();

struct SchemaError {
  const Element* element = nullptr;  ///< null where libxml2 names none
  std::string what;
};

/// What the schema has against the tree.
std::vector<SchemaError> validate_against_schema(const Element& scenario);

}  // namespace dadsim
