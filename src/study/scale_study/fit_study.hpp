#pragma once

#include "report/scale_study/scale_study_report.hpp"
#include "scenario/scenario.hpp"

namespace dadsim::study {

/// Fills in what follows from the ratios of all rungs: critical batches, which rungs are held out and what is
/// predicted of them, the fit of each run, and what is expected of the workload. `scenario` has the <scale-study>.
/// Throws InputError where sizes say nothing: they stand still, or one follows from the others.
void fit_study(const scenario::Scenario& scenario, report::ScaleStudyReport& report);

}  // namespace dadsim::study
