#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/xml/element.hpp"

namespace dadsim::scenario {

/// Returns the names of a catalogue; none if they are unknown here.
using CatalogNames = std::function<std::vector<std::string>(const std::string& catalog)>;

/// Returns the language as an XML Schema. Units and dependences between attributes cannot be expressed, and are checked
/// by the reader. Attributes with names of a catalogue list those of `names`, so that editors propose them.
std::string schema_with(const CatalogNames& names);

/// Returns the schema for checking scenarios, without names of catalogues.
std::string_view scenario_schema();

struct SchemaError {
  const Element* element = nullptr;  ///< element with the error; null if libxml2 names none
  std::string what;
};

/// Returns the schema's errors in a <scenario> or <cluster-platform>.
std::vector<SchemaError> validate_against_schema(const Element& root);

/// Adds the schema's errors for elements without a reader's error, because the reader's messages are better.
void check_against_schema(const Element& root, Findings& findings);

/// Returns the meaning of an attribute, from the tables of docs/scenario.md, which are built into the program. Empty if
/// they have no row for it.
std::string attribute_words(std::string_view element, std::string_view attribute);

}  // namespace dadsim::scenario
