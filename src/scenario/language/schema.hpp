#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/xml/element.hpp"

namespace dadsim::scenario {

/// Returns the names of a catalogue; none if they are not known here.
using CatalogNames = std::function<std::vector<std::string>(const std::string& catalog)>;

/// Returns the language as an XML Schema, as far as possible: units, and dependences between attributes, are checked
/// after it. Attributes that are names of a catalogue list those of `names`, so that editors propose them.
std::string schema_with(const CatalogNames& names);

/// Returns the schema without names of catalogues, against which scenarios are checked.
std::string_view scenario_schema();

struct SchemaError {
  const Element* element = nullptr;  ///< element with the error; null if libxml2 names none
  std::string what;
};

/// Returns the schema's errors in the tree of a <scenario> or <cluster-platform>.
std::vector<SchemaError> validate_against_schema(const Element& root);

/// Adds the schema's errors for elements that the reader accepted: the reader's messages are better.
void check_against_schema(const Element& root, Findings& findings);

/// Returns the meaning of an attribute: its cell in the tables of docs/scenario.md, which is built into the program.
/// Empty if there is no row of it.
std::string attribute_words(std::string_view element, std::string_view attribute);

}  // namespace dadsim::scenario
