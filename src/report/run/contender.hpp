#pragma once

#include <optional>
#include <vector>

#include "estimate/verdict.hpp"
#include "report/run/answer.hpp"
#include "report/run/result.hpp"

namespace dadsim::report {

/// Returns the metric that compares runs unless the scenario names another. `of_other_network`: a workload is timed.
/// `has_known_time`: some run that shares has a known time to accuracy for the workload.
Metric natural_metric(bool of_other_network, bool has_known_time, bool has_learned);

/// Returns a run's time by a metric, with its uncertainty. Without such a time its seconds are 0.
estimate::Contender contender_of(const RunResult& run, Metric metric);

/// Returns the same for any metric; for a metric of work the price replaces the time.
estimate::Contender contender_of(const RunResult& run, const Result& result, Metric metric);

/// Returns the mean of times to the target, all known, with the uncertainty from seeds and evaluations; for one seed
/// `scatter` applies (estimate/verdict.hpp).
estimate::Estimate mean_arrival(const std::vector<std::optional<estimate::Arrival>>& arrivals, double scatter);
/// Adds the errors of a step.
estimate::Estimate with_band(estimate::Estimate time, const std::optional<estimate::Band>& factors);

/// Returns a contender's time by a metric (or its price of work): the mean over the seeds, with the uncertainty from
/// seeds and the errors of a step. Nothing if it has none, or a seed missed the target. Runs, tables, plans and sweeps
/// all report this value. A time at scale also has the uncertainty of relative steps (ScaleResult::time_band).
std::optional<estimate::Estimate> time_of(const estimate::Contender& contender, Metric metric);

}  // namespace dadsim::report
