#include "study/setting/outages_of.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "sim/platform.hpp"

namespace dadsim::study {

std::vector<std::string> node_names(const scenario::Scenario& scenario) {
  std::vector<std::string> names;
  for (const spec::Placement& worker : scenario.workers) names.push_back(worker.host);
  if (scenario.aggregator) names.push_back(scenario.aggregator->host);
  return names;
}

std::vector<std::string> node_names(const scenario::Scenario& scenario, const spec::RunSpec& run) {
  std::vector<std::string> names;
  const std::vector<spec::Placement>& devices = scenario.all_devices();
  for (std::size_t first = 0; first < devices.size(); first += scenario::devices_of_participant(scenario, run))
    names.push_back(devices[first].host);
  if (scenario.aggregator) names.push_back(scenario.aggregator->host);
  return names;
}

std::vector<std::size_t> regions_of(const scenario::Scenario& scenario, const spec::RunSpec& run) {
  const bool is_wan = std::holds_alternative<spec::WanSpec>(scenario.platform.what);
  if (!is_wan && !std::holds_alternative<spec::CompositionSpec>(scenario.platform.what)) return {};
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> regions;
  for (const std::string& host : node_names(scenario, run)) {
    const std::string name = host.substr(0, is_wan ? host.rfind('-') : host.find('.'));
    regions.push_back(numbers.try_emplace(name, numbers.size()).first->second);
  }
  return regions;
}

world::Outages outages_of_participants(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                       const std::function<std::vector<std::string>()>& links) {
  const std::vector<spec::Placement>& devices = scenario.all_devices();
  const std::size_t each = scenario::devices_of_participant(scenario, run);
  std::vector<std::string> hosts;
  std::vector<std::size_t> device_of;
  for (const spec::Placement& device : devices) {
    device_of.push_back(hosts.size() / each);
    hosts.push_back(device.host);
  }
  if (scenario.aggregator) {
    device_of.push_back(hosts.size() / each);
    hosts.push_back(scenario.aggregator->host);
  }
  world::Outages outages = outages_of(scenario, run, std::move(hosts), links);
  if (each > 1) outages.device_of = std::move(device_of);
  return outages;
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
