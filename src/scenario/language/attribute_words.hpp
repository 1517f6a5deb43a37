#pragma once

#include <string>
#include <string_view>

namespace dadsim::scenario {

/// Returns the meaning of an attribute: its cell in the tables of docs/scenario.md, which is built into the program.
/// Empty if there is no row of it.
std::string attribute_words(std::string_view element, std::string_view attribute);

}  // namespace dadsim::scenario
