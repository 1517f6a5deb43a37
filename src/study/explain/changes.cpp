#include "study/explain/changes.hpp"

#include <algorithm>

#include "report/run/causes.hpp"

namespace dadsim::study {

void LinkGroup::add(const step::LinkUse& use) {
  if (std::ranges::find(links, use.link) == links.end()) links.push_back(use.link);
  least_bandwidth = std::min(least_bandwidth, use.bandwidth);
  most_bandwidth = std::max(most_bandwidth, use.bandwidth);
  least_latency = std::min(least_latency, use.latency);
  most_latency = std::max(most_latency, use.latency);
  busy_share = std::max(busy_share, use.busy_share);
}

std::string pattern_of_link(const std::string& direction) {
  return report::with_numbers_open(report::name_of_link(direction));
}

report::Statement change_of(const char* kind, double factor, const LinkGroup& group) {
  const std::string first = report::name_of_link(group.links.front());
  const bool one = std::ranges::all_of(
      group.links, [&](const std::string& direction) { return report::name_of_link(direction) == first; });
  return report::Statement{kind, {one ? first : group.pattern}}
      .with("factor", factor)
      .with("bandwidth_low", group.least_bandwidth)
      .with("bandwidth_high", group.most_bandwidth)
      .with("latency_low", group.least_latency)
      .with("latency_high", group.most_latency)
      .with("directions", static_cast<double>(group.links.size()))
      .with("one_link", one);
}

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
  for (double* rate : {&device.peak_flops, &device.memory_bandwidth, &device.tf32_flops, &device.fp16_flops,
                       &device.bf16_flops, &device.fp8_flops, &device.fp4_flops}) {
    *rate *= factor;
  }
  for (double* seconds : {&device.launch_overhead, &device.step_seconds, &device.ramp_seconds}) *seconds /= factor;
}

void speed_up(spec::DeviceSpec& device, double factor, const scenario::Scenario& scenario) {
  if (!scenario.recorded) return speed_up(device, factor);
  device.slowdown /= factor;  // a recorded step has no other setting that changes its times
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
