#pragma once

#include "report/scale_study/scale_study_report.hpp"
#include "scenario/scenario.hpp"

namespace dadsim::study {

/// Fills in what follows from the ratios of all rungs: critical batches, which rungs are held out and what is
/// predicted of them, the fit of each run, and what is expected of the workload. `scenario` has the <scale-study>.
void fit_study(const scenario::Scenario& scenario, report::ScaleStudyReport& report);

/// Refuses sizes that tell nothing before anything is learned: a kind stands still, or follows from the others.
/// `report` needs its kinds and the sizes of all rungs; critical batches may be left open. Throws InputError.
void check_sizes(const scenario::Scenario& scenario, report::ScaleStudyReport report);

}  // namespace dadsim::study
