#pragma once

#include "report/explanation.hpp"
#include "scenario/scenario.hpp"
#include "study/learned.hpp"

namespace dadsim::study {

/// Times what was learned again with one thing changed at a time: the bandwidth and the latency of each link that
/// matters, of each kind of link and of all; the speed of each device; the batch; how sums are put into buckets; and
/// what no network and no computing at all would leave. Nothing is learned again. `show_progress` on standard error.
/// Throws SimulationError, Cancelled.
report::Explanation explain_scenario(const scenario::Scenario& scenario, const Learned& learned, bool show_progress);

}  // namespace dadsim::study
