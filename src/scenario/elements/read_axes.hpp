#pragma once

#include "scenario/elements/elements.hpp"
#include "scenario/language/node.hpp"
#include "scenario/xml/xml_writer.hpp"
#include "spec/sweep_specification.hpp"

namespace dadsim::scenario {

// Axes of a <sweep> or a <scale-study>: <vary> and <linked>.

/// Reads the axes inside an element, and checks that they can be combined. The caller reads the rest of the element
/// first.
void read_axes(const Node& node, spec::SweepSpec& sweep, const ReadContext& context);
void write_axes(XmlWriter& xml, const spec::SweepSpec& sweep);

// Common parts of <vary> and <allow>: a path, its values, and the form in which they are set.

/// Returns the words of a text or, if it has semicolons, the parts between them; empty parts at the end are ignored.
std::vector<std::string> values_of(const std::string& text);
/// Returns the text for values_of(), with semicolons if a value is empty or contains white space.
std::string values_text(const std::vector<std::string>& values);

/// Reads the attribute `unit` or `form`.
void read_form(const Node& node, spec::VariedPath& varied);

}  // namespace dadsim::scenario
