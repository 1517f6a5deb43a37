#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dadsim::cli {

/// The names of a catalogue that scenarios and commands may use, in its order. `kind` is what the types of scenario.xsd
/// and the listings say: algorithms, all-gathers, all-reduces, collectives, compressors, devices, links, models,
/// prices, regions, workloads; none for what is unknown.
std::vector<std::string> names_of(std::string_view kind);

/// scenario.xsd with the names of the catalogues in its types of names, so that editors propose them. Where a scenario
/// may use names or quantities of its own these stay right.
std::string schema_with_names();

}  // namespace dadsim::cli
