#pragma once

#include "report/diagnose/diagnosis.hpp"
#include "scenario/scenario.hpp"
#include "study/diagnose/measurement.hpp"

namespace dadsim::study {

/// Whether what was measured is what the scenario has to take, and what may be wrong where it is not: every suspect is
/// simulated, and held against the measurement. The scenario's first run that shares anything is what was measured.
/// `show_progress` on standard error. Throws InputError, SimulationError, Cancelled.
report::Diagnosis diagnose_scenario(const scenario::Scenario& scenario, const Measurement& measured,
                                    bool show_progress);

}  // namespace dadsim::study
