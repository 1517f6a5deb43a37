#pragma once

#include "report/result.hpp"
#include "scenario/scenario.hpp"

namespace dadsim {

/// Learns every run of the scenario for real, times it on the simulated cluster, and puts the result together.
/// `show_progress` on standard error. Throws InputError, SimulationError, and Cancelled when interrupted() is set.
Result run_experiment(const Scenario& scenario, bool show_progress);

}  // namespace dadsim
