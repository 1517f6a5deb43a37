#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "world/outage_rules.hpp"

namespace dadsim::study {

/// The hosts of the workers, then that of the aggregator.
std::vector<std::string> node_names(const scenario::Scenario& scenario);

/// What goes wrong in a run of the scenario, with what the platform's own profiles say. `links` lists those of the
/// platform, and is asked only where some can fail.
world::Outages outages_of(const scenario::Scenario& scenario, const spec::RunSpec& run, std::vector<std::string> hosts,
                          const std::function<std::vector<std::string>()>& links);

/// Whether sites may be missing from the steps of a run: it takes steps, and something can go wrong.
bool may_be_absent(const scenario::Scenario& scenario, const spec::RunSpec& run);
/// Whether what a run learns depends on its cluster: on the order of events, or on who is there in which step.
bool learns_on_cluster(const scenario::Scenario& scenario, const spec::RunSpec& run);

}  // namespace dadsim::study
