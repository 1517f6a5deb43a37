#include "study/explain/changes.hpp"

namespace dadsim::study {

std::vector<spec::LinkChange> changes_of(const std::vector<std::string>& links, double bandwidth, double latency) {
  std::vector<spec::LinkChange> changes;
  changes.reserve(links.size());
  for (const std::string& link : links) changes.push_back({link, bandwidth, latency});
  return changes;
}

void change_links(sim::Cluster& cluster, const std::vector<spec::LinkChange>& changes) {
  cluster.changes.insert(cluster.changes.end(), changes.begin(), changes.end());
}

void speed_up(spec::DeviceSpec& device, double factor) {
  for (double* rate :
       {&device.peak_flops, &device.memory_bandwidth, &device.tf32_flops, &device.fp16_flops, &device.bf16_flops}) {
    *rate *= factor;
  }
  for (double* seconds : {&device.launch_overhead, &device.step_seconds, &device.ramp_seconds}) *seconds /= factor;
}

void speed_up(spec::DeviceSpec& device, double factor, const scenario::Scenario& scenario) {
  if (!scenario.recorded) return speed_up(device, factor);
  device.slowdown /= factor;  // recorded seconds follow nothing else
}

void speed_up(spec::FrameworkSpec& framework, double factor) {
  for (double* rate : {&framework.serialise, &framework.deserialise, &framework.server_serialise,
                       &framework.server_deserialise, &framework.aggregate, &framework.copy}) {
    *rate *= factor;
  }
  for (double* seconds : {&framework.round, &framework.per_client, &framework.polling}) *seconds /= factor;
}

namespace {

std::string chosen_sum(const report::RunResult& run, const std::string& asked) {
  std::string chosen;
  for (const step::NetworkUse::Collective& one : run.network.collectives) {
    if (one.kind != to_string(step::CollectiveKind::all_reduce) || one.algorithm == chosen) continue;
    if (!chosen.empty()) return asked;
    chosen = one.algorithm;
  }
  return chosen.empty() ? asked : chosen;
}

}  // namespace

void keep_sums(const report::Result& as, scenario::Scenario& scenario) {
  for (std::size_t i = 0; i < scenario.runs.size(); ++i)
    scenario.runs[i].all_reduce = chosen_sum(as.runs[i], scenario.runs[i].all_reduce);
}

void keep_fidelity(const report::Result& as, sim::Cluster& cluster) {
  std::string fidelity;
  for (const report::RunResult& run : as.runs) {
    if (run.spec.event_driven || run.network.links_used == 0) continue;
    if (!fidelity.empty() && run.network.fidelity != fidelity) return;
    fidelity = run.network.fidelity;
  }
  if (const auto known = spec::parse<spec::Fidelity>(fidelity)) cluster.network.fidelity = *known;
}

spec::FrameworkSpec without_time(const spec::FrameworkSpec& framework) {
  spec::FrameworkSpec other;
  other.evaluates = framework.evaluates;
  other.sends = framework.sends;
  other.all_reduce = framework.all_reduce;
  return other;
}

}  // namespace dadsim::study
