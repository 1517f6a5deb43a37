#pragma once

#include <optional>
#include <vector>

#include "estimate/verdict.hpp"
#include "report/run/answer.hpp"
#include "report/run/result.hpp"

namespace dadsim::report {

/// Returns the metric for comparing runs, unless the scenario names one. `of_other_network`: a workload is timed.
/// `has_known_time`: a run that communicates has a known time to accuracy for the workload.
Metric natural_metric(bool of_other_network, bool has_known_time, bool has_learned);

/// Returns a run's time by a metric, with its uncertainty. Its seconds are 0 if the run has no such time.
estimate::Contender contender_of(const RunResult& run, Metric metric);

/// Returns a contender for any metric; for a metric of work, the price replaces the time.
estimate::Contender contender_of(const RunResult& run, const Result& result, Metric metric);

/// Returns the mean of times to the target, all known, with the uncertainty from seeds and evaluations; for one seed
/// `scatter` applies (estimate/verdict.hpp).
estimate::Estimate mean_arrival(const std::vector<std::optional<estimate::Arrival>>& arrivals, double scatter);
/// Returns a time with the error band of a step added to its uncertainty.
estimate::Estimate with_band(estimate::Estimate time, const std::optional<estimate::Band>& factors);

/// Returns a contender's time by a metric (or its price of work): the mean over the seeds, with the uncertainty from
/// seeds and the errors of a step. Nothing if there is no such time, or a seed missed the target. Runs, tables, plans
/// and sweeps all report this value. A time at scale also contains the uncertainty of relative steps
/// (ScaleResult::time_band).
std::optional<estimate::Estimate> time_of(const estimate::Contender& contender, Metric metric);

}  // namespace dadsim::report
