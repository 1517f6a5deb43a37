#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace dadsim::scenario {

/// One difference between two scenarios.
struct ScenarioDifference {
  std::string path;           ///< path in the form of --set
  std::string before, after;  ///< value in each scenario; empty: the attribute or element is absent
};

/// Returns the differences between two printed scenarios with all defaults filled in, in the order of the first
/// scenario. An element that only one scenario has is one difference; its value is the element's name and attributes as
/// text.
std::vector<ScenarioDifference> differences(const Scenario& before, const Scenario& after);

}  // namespace dadsim::scenario
