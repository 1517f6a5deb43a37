#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "world/outage_rules.hpp"

namespace dadsim::study {

/// Returns the hosts of the workers, then the aggregator's.
std::vector<std::string> node_names(const scenario::Scenario& scenario);

/// Returns the hosts of the participants of an event-driven run (each participant's first device), then the
/// aggregator's.
std::vector<std::string> node_names(const scenario::Scenario& scenario, const spec::RunSpec& run);

/// Returns the region of each participant: a region of a <wan>, or the cluster for clusters joined by lines. Numbered
/// by first occurrence; empty if the platform has neither.
std::vector<std::size_t> regions_of(const scenario::Scenario& scenario, const spec::RunSpec& run);

/// Returns the outages of an event-driven run, of links and of participants. A participant is up while all its devices
/// are.
world::Outages outages_of_participants(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                       const std::function<std::vector<std::string>()>& links);

/// Returns the outages of a run of the scenario, including the platform's own profiles. `links`: called for the
/// platform's links, only if some can fail.
world::Outages outages_of(const scenario::Scenario& scenario, const spec::RunSpec& run, std::vector<std::string> hosts,
                          const std::function<std::vector<std::string>()>& links);

/// Returns whether sites may miss steps of a run: it takes steps, and a host or link can fail.
bool may_be_absent(const scenario::Scenario& scenario, const spec::RunSpec& run);
/// Returns whether a run's learning depends on its cluster: on the order of events, or on the sites present in each
/// step.
bool learns_on_cluster(const scenario::Scenario& scenario, const spec::RunSpec& run);

}  // namespace dadsim::study
