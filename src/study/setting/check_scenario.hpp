#pragma once

#include <vector>

#include "scenario/language/catalog.hpp"
#include "scenario/scenario.hpp"
#include "spec/sample_shape.hpp"

namespace dadsim::study {

/// Carries out a check of Catalog::Check on a scenario that has been read whole (for memory: but for its runs), with
/// samples like this one.
std::vector<scenario::Catalog::ScenarioFault> check_scenario(scenario::Catalog::Check what,
                                                             const scenario::Scenario& scenario,
                                                             const spec::SampleShape& sample);

}  // namespace dadsim::study
