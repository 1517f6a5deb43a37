#pragma once

#include "report/diagnose/diagnosis.hpp"
#include "scenario/scenario.hpp"
#include "study/diagnose/measurement.hpp"

namespace dadsim::study {

/// Compares a measurement with the expected time of the scenario. If the measurement is slower, every suspected cause
/// is simulated and compared too. The measurement belongs to the scenario's first run that communicates.
/// `show_progress`: prints progress on standard error. Throws InputError, SimulationError, Cancelled.
report::Diagnosis diagnose_scenario(const scenario::Scenario& scenario, const Measurement& measured,
                                    bool show_progress);

}  // namespace dadsim::study
