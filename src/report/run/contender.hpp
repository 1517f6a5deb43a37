#pragma once

#include <optional>
#include <vector>

#include "estimate/verdict.hpp"
#include "report/run/answer.hpp"
#include "report/run/result.hpp"

namespace dadsim::report {

/// What is known of a run's time by a metric. Without such a time its seconds are 0.
estimate::Contender contender_of(const RunResult& run, Metric metric);

/// The same by a metric of work too, whose price stands in the place of a time.
estimate::Contender contender_of(const RunResult& run, const Result& result, Metric metric);

/// The mean of times to the target, all of which are known, with what seeds and evaluations leave open.
estimate::Estimate mean_arrival(const std::vector<std::optional<estimate::Arrival>>& arrivals);
/// The same with the errors of a step.
estimate::Estimate with_band(estimate::Estimate time, const std::optional<estimate::Band>& factors);

}  // namespace dadsim::report
