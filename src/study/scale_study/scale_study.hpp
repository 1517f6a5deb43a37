#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/scale_study/scale_study_report.hpp"
#include "scenario/document/load.hpp"
#include "scenario/scenario.hpp"
#include "study/remote/task_queue.hpp"

namespace dadsim::study {

/// Fills in what follows from the ratios of all rungs: critical batches, which rungs are held out and what is
/// predicted of them, the fit of each run, and what is expected of the workload. `scenario` has the <scale-study>.
void fit_study(const scenario::Scenario& scenario, report::ScaleStudyReport& report);

/// Refuses sizes that tell nothing before anything is learned: a kind stands still, or follows from the others.
/// `report` needs its kinds and the sizes of all rungs; critical batches may be left open. Throws InputError.
void check_sizes(const scenario::Scenario& scenario, report::ScaleStudyReport report);

/// Learns every rung of the <scale-study> of a scenario, fits how relative steps move with size, and predicts what was
/// held out and the workload that the scenario is timed as. Nothing is timed but event-driven runs, which have to be
/// simulated to be learned. `overrides` are those of --set. Throws InputError, also where a rung makes the scenario
/// wrong, at the line of its <vary>; SimulationError, Cancelled. `on_read` is called once all has been read, and before
/// anything is learned. `queue`: other processes, which learn in place of this one; null: there are none.
report::ScaleStudyReport scale_study(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                     bool show_progress, const std::function<void()>& on_read = {},
                                     TaskQueue* queue = nullptr);

}  // namespace dadsim::study
