#pragma once

#include <string>

#include "report/explain/comparison.hpp"
#include "scenario/scenario.hpp"

namespace dadsim::study {

/// Learns and times both; what both learn alike is learned once. `name`: of the second, in sentences. `show_progress`
/// on standard error. Throws InputError, SimulationError, Cancelled.
report::Comparison compare_scenarios(const scenario::Scenario& before, const scenario::Scenario& after,
                                     std::string name, bool show_progress);

}  // namespace dadsim::study
