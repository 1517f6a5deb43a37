#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/xml/element.hpp"

namespace dadsim::scenario {

/// The names that a catalogue of the program has; none: it is not known here.
using CatalogNames = std::function<std::vector<std::string>(const std::string& catalog)>;

/// The language as an XML Schema, as far as that can say it: units, and which attributes belong together, are checked
/// after it. Attributes that are names of a catalogue take those of `names`, so that editors propose them.
std::string schema_with(const CatalogNames& names);

/// The same without the names of catalogues: what scenarios are checked against.
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
