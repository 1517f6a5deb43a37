#pragma once

#include <optional>

#include "report/words/statement.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "step/trajectory.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// Lengthens every step to the input time of its largest batch, at TimedAs::input_rate samples per second. Input is
/// read ahead, overlapping with everything else, but a step cannot end before the next batch is present. The added time
/// is exposed, and belongs to the input on the critical path. `timings` are of the trajectory's distinct steps.
void limit_by_input(const TimedAs& timed, const step::Trajectory& trajectory, sim::TimedRun& timings);

/// Returns the assumption about the input, as a sentence; none without a limit.
std::optional<report::Statement> input_assumption(const std::optional<spec::TimedAsSpec>& timed_as);

}  // namespace dadsim::study
