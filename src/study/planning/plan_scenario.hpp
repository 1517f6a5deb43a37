#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/plan/plan_report.hpp"
#include "scenario/document/load.hpp"
#include "study/remote/task_queue.hpp"

namespace dadsim::study {

/// Answers the <goal> of a scenario file: every answer and its neighbour are full timing runs; what was learned for one
/// is used for all that learn the same. `overrides` are those of --set. Throws InputError (also where a change that the
/// goal allows makes the scenario wrong), SimulationError, Cancelled. `on_read` is called once the scenario has been
/// read with all that it names, and before anything is run.
report::PlanReport plan_scenario(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                 bool show_progress, const std::function<void()>& on_read = {},
                                 TaskQueue* queue = nullptr);

}  // namespace dadsim::study
