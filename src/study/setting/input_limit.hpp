#pragma once

#include <optional>

#include "report/words/statement.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "step/trajectory.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// Makes every step as long as the input of its largest batch takes, TimedAs::input_rate samples per second: input is
/// read ahead beside everything else, and a step cannot end before the next batch is there. What a step gets longer by
/// is time in which it stands still, and of the input on its critical path. `timings` are of the trajectory's distinct
/// steps.
void limit_by_input(const TimedAs& timed, const step::Trajectory& trajectory, sim::TimedRun& timings);

/// What is assumed of it, as a sentence; empty where there is no limit.
std::optional<report::Statement> input_assumption(const std::optional<spec::TimedAsSpec>& timed_as);

}  // namespace dadsim::study
