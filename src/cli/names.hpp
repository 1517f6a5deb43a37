#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dadsim::cli {

/// Returns the names of a catalogue in its order. `kind` is the name in scenario.xsd and in listings: algorithms,
/// all-gathers, all-reduces, collectives, compressors, devices, links, models, prices, regions, workloads. Empty for an
/// unknown kind.
std::vector<std::string> names_of(std::string_view kind);

/// Returns scenario.xsd with the names of the catalogues, which editors then propose. Own names and quantities of a
/// scenario remain valid.
std::string schema_with_names();

}  // namespace dadsim::cli
