#pragma once

#include <string>

namespace dadsim::cli {

/// The URI of the scenario.xsd that is installed with this program (or built beside it); where there is none,
/// "scenario.xsd", the name of one beside the scenario.
std::string schema_uri();

}  // namespace dadsim::cli
