#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/scale_study/scale_study_report.hpp"
#include "scenario/document/load.hpp"
#include "scenario/scenario.hpp"
#include "study/remote/task_queue.hpp"

namespace dadsim::study {

/// Completes the report from the ratios of all rungs: critical batches, held-out rungs and their predictions, the fit
/// of each run, and the prediction for the workload. *Requires* a scenario with a <scale-study>.
void fit_study(const scenario::Scenario& scenario, report::ScaleStudyReport& report);

/// Refuses uninformative sizes before anything is learned: a kind of size that is constant or follows from others.
/// `report` needs its kinds and the sizes of all rungs, but no critical batches yet. Throws InputError.
void check_sizes(const scenario::Scenario& scenario, report::ScaleStudyReport report);

/// Learns every rung of the scenario's <scale-study>. Then fits relative steps against size, and predicts the held-out
/// rungs and the timed workload. Only event-driven runs are timed, because learning them needs a simulation.
/// `overrides`: settings of --set. `on_read`: called after reading, before anything is learned. `queue`: other
/// processes, which learn in place of this one; null: none. Throws InputError, also for a rung that makes the scenario
/// wrong, at the line of its <vary>; SimulationError, Cancelled.
report::ScaleStudyReport scale_study(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                     bool show_progress, const std::function<void()>& on_read = {},
                                     TaskQueue* queue = nullptr);

}  // namespace dadsim::study
