#include "study/setting/outages_of.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/platform.hpp"

namespace dadsim::study {

std::vector<std::string> node_names(const scenario::Scenario& scenario) {
  std::vector<std::string> names;
  for (const spec::Placement& worker : scenario.workers) names.push_back(worker.host);
  if (scenario.aggregator) names.push_back(scenario.aggregator->host);
  return names;
}

world::Outages outages_of(const scenario::Scenario& scenario, const spec::RunSpec& run, std::vector<std::string> hosts,
                          const std::function<std::vector<std::string>()>& links) {
  world::Outages outages{.what = run.conditions.failures_of(scenario.failures),
                         .profiles = {},
                         .hosts = std::move(hosts),
                         .links = {},
                         .seed = scenario.seed};
  if (run.conditions.has_profiles()) outages.profiles = sim::state_profiles(scenario.platform);
  const auto of_links = [](const auto& rule) { return rule.links; };
  if (std::ranges::any_of(outages.what.random, of_links) || std::ranges::any_of(outages.what.outages, of_links) ||
      std::ranges::any_of(outages.profiles, of_links)) {
    outages.links = links();
  }
  const auto of_nodes = [](const auto& rule) { return rule.nodes; };
  if (std::ranges::any_of(outages.what.random, of_nodes) || std::ranges::any_of(outages.what.outages, of_nodes)) {
    const std::vector<std::string> nodes = spec::nodes_of_hosts(scenario.platform);
    std::map<std::string, const std::string*> node_of;
    std::size_t number = 0;
    for (const std::string& host : spec::host_names(scenario.platform)) node_of.try_emplace(host, &nodes[number++]);
    for (const std::string& host : outages.hosts) outages.on.push_back(*node_of.at(host));
  }
  return outages;
}

bool may_be_absent(const scenario::Scenario& scenario, const spec::RunSpec& run) {
  if (run.event_driven || !run.communicates) return false;
  const spec::FailureSpec what = run.conditions.failures_of(scenario.failures);
  if (what.has_dates() || !what.availability.empty()) return true;
  return run.conditions.has_profiles() && !sim::state_profiles(scenario.platform).empty();
}

bool learns_on_cluster(const scenario::Scenario& scenario, const spec::RunSpec& run) {
  return run.event_driven || (run.absence.goes_without() && may_be_absent(scenario, run));
}

}  // namespace dadsim::study
