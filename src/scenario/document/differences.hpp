#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace dadsim::scenario {

/// Something that two scenarios say differently.
struct ScenarioDifference {
  std::string path;           ///< as for --set
  std::string before, after;  ///< empty: not there
};

/// What differs between two scenarios as they are printed, with every default filled in, in the order of the first. An
/// element that only one of them has is one difference, with its attributes in words.
std::vector<ScenarioDifference> differences(const Scenario& before, const Scenario& after);

}  // namespace dadsim::scenario
