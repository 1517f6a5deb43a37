#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/plan/plan_report.hpp"
#include "scenario/document/load.hpp"
#include "study/remote/task_queue.hpp"

namespace dadsim::study {

/// Answers the <goal> of a scenario file. Every answer and its neighbour are full timing runs; equal learning is done
/// once. `overrides`: settings of --set. `on_read`: called once the scenario and its files have been read, before
/// anything runs. Throws InputError (also if a permitted change makes the scenario wrong), SimulationError, Cancelled.
report::PlanReport plan_scenario(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                 bool show_progress, const std::function<void()>& on_read = {},
                                 TaskQueue* queue = nullptr);

}  // namespace dadsim::study
