#pragma once

#include "scenario/elements/elements.hpp"
#include "scenario/language/node.hpp"
#include "scenario/xml/xml_writer.hpp"
#include "spec/sweep_specification.hpp"

namespace dadsim::scenario {

// The axes of a <sweep> or a <scale-study>: their <vary> and <linked>.

/// Reads the axes inside an element of which all else has been read, and checks that they go together.
void read_axes(const Node& node, spec::SweepSpec& sweep, const ReadContext& context);
void write_axes(XmlWriter& xml, const spec::SweepSpec& sweep);

// What <vary> and <allow> have in common: a path, its values, and the form in which they are set.

/// Words, or, where there are semicolons, the text between them; an empty last one is ignored.
std::vector<std::string> values_of(const std::string& text);
/// The inverse of values_of(): text with semicolons where a value is empty or holds white space.
std::string values_text(const std::vector<std::string>& values);

/// The attribute `unit` or `form`.
void read_form(const Node& node, spec::VariedPath& varied);

}  // namespace dadsim::scenario
