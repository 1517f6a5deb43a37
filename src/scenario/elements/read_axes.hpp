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

}  // namespace dadsim::scenario
