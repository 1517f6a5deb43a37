#pragma once

#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"

namespace dadsim::study {

/// Fills in what every run of the result costs, and says on what terms. A scenario without <costs> changes nothing.
///
/// Money: hours × the prices of workers and aggregator, what they send × egress, the rent of lines for that time,
/// energy × electricity. Energy: every
/// device draws its power while it computes and its idle power else, times the overhead of the building; the network
/// takes what the scenario says per byte. Both are unknown where a device's price or power is.
void add_costs(const scenario::Scenario& scenario, report::Result& result);

}  // namespace dadsim::study
