#pragma once

#include <string>

#include "report/explain/comparison.hpp"
#include "report/explain/explanation.hpp"
#include "scenario/scenario.hpp"
#include "study/learning/learned.hpp"

namespace dadsim::study {

/// Times what was learned again with one thing changed at a time: the bandwidth and the latency of each link that
/// matters, of each kind of link and of all; the speed of each device; the batch; how sums are put into buckets; and
/// what no network and no computing at all would leave. Nothing is learned again. `show_progress` on standard error.
/// Throws SimulationError, Cancelled.
report::Explanation explain_scenario(const scenario::Scenario& scenario, const Learned& learned, bool show_progress);

/// What has to be learned to explain a scenario, which is less than it asks for: until the last of its targets is
/// reached, with one of the runs that are equal up to rounding, and one seed. Event-driven runs are simulated as they
/// are.
scenario::Scenario as_explained(scenario::Scenario scenario);

/// Learns and times both; what both learn alike is learned once. `name`: of the second, in sentences. `show_progress`
/// on standard error. Throws InputError, SimulationError, Cancelled.
report::Comparison compare_scenarios(const scenario::Scenario& before, const scenario::Scenario& after,
                                     std::string name, bool show_progress);

}  // namespace dadsim::study
