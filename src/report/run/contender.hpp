#pragma once

#include <optional>
#include <vector>

#include "estimate/verdict.hpp"
#include "report/run/answer.hpp"
#include "report/run/result.hpp"

namespace dadsim::report {

/// What runs are compared by unless they ask otherwise. `of_other_network`: a workload is timed; `has_known_time`: of
/// some run that shares, the workload's time to accuracy is known.
Metric natural_metric(bool of_other_network, bool has_known_time, bool has_learned);

/// What is known of a run's time by a metric. Without such a time its seconds are 0.
estimate::Contender contender_of(const RunResult& run, Metric metric);

/// The same by a metric of work too, whose price stands in the place of a time.
estimate::Contender contender_of(const RunResult& run, const Result& result, Metric metric);

/// The mean of times to the target, all of which are known, with what seeds and evaluations leave open; of one seed
/// `scatter` (estimate/comparison.hpp).
estimate::Estimate mean_arrival(const std::vector<std::optional<estimate::Arrival>>& arrivals, double scatter);
/// The same with the errors of a step.
estimate::Estimate with_band(estimate::Estimate time, const std::optional<estimate::Band>& factors);

/// A contender's time by a metric (or its price of work), the mean over the seeds, with what several seeds leave open
/// and the errors of a step. None where it has none, or a seed missed the target. Runs, tables, plans and sweeps say
/// this one. A time at scale has what relative steps leave open of it beside (ScaleResult::time_band).
std::optional<estimate::Estimate> time_of(const estimate::Contender& contender, Metric metric);

}  // namespace dadsim::report
