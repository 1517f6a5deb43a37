#pragma once

#include <string>

#include "report/explain/comparison.hpp"
#include "report/explain/explanation.hpp"
#include "scenario/scenario.hpp"
#include "study/learning/learned.hpp"

namespace dadsim::study {

/// Times the learned runs again with one change at a time: the bandwidth and the latency of each important link, of
/// each kind of link and of all; the speed of each device; the batch; the buckets of sums; and the limits without any
/// network and without computing. Nothing is learned again. `show_progress` on standard error. Throws SimulationError,
/// Cancelled.
report::Explanation explain_scenario(const scenario::Scenario& scenario, const Learned& learned, bool show_progress);

/// Returns the reduced scenario to learn for an explanation: up to the last target, one run of each group equal up to
/// rounding, and one seed. Event-driven runs are simulated unchanged.
scenario::Scenario as_explained(scenario::Scenario scenario);

/// Learns and times both scenarios; their common part is learned once. `name`: name of the second in sentences.
/// `show_progress` on standard error. Throws InputError, SimulationError, Cancelled.
report::Comparison compare_scenarios(const scenario::Scenario& before, const scenario::Scenario& after,
                                     std::string name, bool show_progress);

}  // namespace dadsim::study
