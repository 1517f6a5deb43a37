#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenario/element.hpp"

namespace dadsim::scenario {

/// The text of scenario.xsd, built in.
std::string_view scenario_schema();

struct SchemaError {
  const Element* element = nullptr;  ///< null where libxml2 names none
  std::string what;
};

/// What the schema has against the tree of a <scenario> or <cluster-platform>.
std::vector<SchemaError> validate_against_schema(const Element& root);

/// Adds to the findings of the reader what the schema has against elements that the reader let pass: the reader says it
/// better.
void check_against_schema(const Element& root, Findings& findings);

}  // namespace dadsim::scenario
