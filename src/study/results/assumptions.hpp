#pragma once

#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"

namespace dadsim::study {

/// What every run of the result takes for granted. `steps_known`: those that the workload needs.
std::vector<report::Statement> assumptions_of(const scenario::Scenario& scenario, const report::Result& result,
                                              bool steps_known);

}  // namespace dadsim::study
