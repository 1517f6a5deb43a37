#include "study/setting/cluster_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "sim/device.hpp"
#include "support/random.hpp"

namespace dadsim::study {
namespace {

/// Returns the slowdown of a worker: exp(σz) ÷ speed. The median of exp(σz) is 1, for speeds and for times. A worker's
/// draw does not depend on other workers.
double slowdown_of(const spec::Placement& worker, std::uint32_t number, std::uint64_t seed) {
  const double slowdown = 1 / worker.speed;
  if (worker.speed_spread == 0) return slowdown;
  RandomStream stream(seed, Purpose::speeds, number);
  return slowdown * std::exp(boost::random::normal_distribution<double>(0, worker.speed_spread)(stream));
}

}  // namespace

const spec::DeviceSpec& find_device(const std::vector<spec::DeviceSpec>& own, const std::string& name) {
  for (const auto* devices : {&own, &sim::device_catalog().all()}) {
    const auto found = std::ranges::find(*devices, name, &spec::DeviceSpec::name);
    if (found != devices->end()) return *found;
  }
  throw std::logic_error("the device '" + name + "' was not checked");
}

std::string rates_in_words(const spec::DeviceSpec& device, spec::Precision precision) {
  std::string text = device.source;
  for (const spec::KindEfficiency& one : device.efficiencies) {
    if (one.precision && *one.precision != precision) continue;
    text += fmt::format("; {} reaches {:.3g} of the {} peak", to_string(one.kind), one.share, to_string(precision));
    if (!one.source.empty()) text += fmt::format(" ({})", one.source);
  }
  return text;
}

sim::Cluster cluster_of(const scenario::Scenario& scenario) {
  sim::Cluster cluster;
  cluster.platform = scenario.platform;
  for (const spec::Placement& worker : scenario.all_devices()) {
    const auto number = static_cast<std::uint32_t>(cluster.hosts.size());
    cluster.hosts.push_back(worker.host);
    spec::DeviceSpec& device = cluster.devices.emplace_back(find_device(scenario.devices, worker.device));
    device.slowdown = slowdown_of(worker, number, scenario.seed) * scenario.framework.computing;
    // Clears texts that only readers need: for 100,000 workers they would dominate time and memory.
    std::string().swap(device.description);
    std::string().swap(device.source);
  }
  if (scenario.aggregator) {
    cluster.aggregator_host = scenario.aggregator->host;
    cluster.aggregator_device = find_device(scenario.devices, scenario.aggregator->device);
  }
  cluster.network = scenario.network;
  cluster.framework = scenario.framework;
  cluster.seed = scenario.seed;
  return cluster;
}

sim::Cluster cluster_of_run(sim::Cluster cluster, const spec::RunSpec& run) {
  if (run.conditions.jitter == spec::ConditionsSpec::Of::none) cluster.network.jitter = {};
  return cluster;
}

}  // namespace dadsim::study
