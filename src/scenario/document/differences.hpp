#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace dadsim::scenario {

/// One difference between two scenarios.
struct ScenarioDifference {
  std::string path;           ///< path in the form of --set
  std::string before, after;  ///< values; empty: the attribute or element is absent
};

/// Returns the differences between two printed scenarios with all defaults filled in, in the order of the first
/// scenario. An element that only one of them has is one difference, with its attributes in words.
std::vector<ScenarioDifference> differences(const Scenario& before, const Scenario& after);

}  // namespace dadsim::scenario
