#include "study/layout/layout_setting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "algorithms/registry.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "sim/platform.hpp"
#include "spec/timed_workload.hpp"
#include "study/layout/by_flow.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

void check_layout_base(const scenario::Scenario& base) {
  std::vector<Diagnostic> faults;
  const auto fault = [&](const char* what, const char* remedy) { faults.push_back({base.file, 0, what, remedy}); };
  if (!base.timed_as || base.timed_as->workload.empty())
    fault("no workload is timed, whose layers could be divided", "<timed-as workload=\"…\"> of `dadsim workloads`");
  const std::vector<spec::Placement> devices = base.all_devices();
  const bool several =
      std::ranges::any_of(devices, [&](const spec::Placement& one) { return one.device != devices.front().device; });
  if (several)
    fault("its devices are of several kinds, which a layout would have to tell apart", "one device for all workers");
  if (!faults.empty()) throw InputError(std::move(faults));
}

spec::RunSpec run_in_question(const scenario::Scenario& base, const std::string& label) {
  const auto found = std::ranges::find_if(base.runs, [&](const spec::RunSpec& run) {
    return label.empty() ? run.communicates && !run.event_driven : run.label == label;
  });
  if (found == base.runs.end() || found->event_driven) {
    throw InputError({base.file, 0,
                      label.empty() ? "no run of it takes steps and shares anything"
                                    : fmt::format("no run that takes steps is called '{}'", label),
                      "a run that shares gradients between peers (exchange=\"peer\")"});
  }
  return *found;
}

/// Devices of a node; 1 where nodes have different numbers of them.
std::int64_t devices_per_node(const scenario::Scenario& base) {
  std::map<std::string, std::int32_t> node_of;
  for (const sim::PlatformHost& host : sim::platform_hosts(base.platform)) node_of[host.name] = host.node;
  std::map<std::int32_t, std::int64_t> counts;
  for (const spec::Placement& one : base.all_devices()) ++counts[node_of.at(one.host)];
  const std::int64_t first = counts.begin()->second;
  return std::ranges::all_of(counts, [&](const auto& node) { return node.second == first; }) ? first : 1;
}

/// Reads what is fixed into what is not searched.
void read_fixed(LayoutSpace& space, spec::TimedAsSpec timed) {
  scenario::Findings findings("");
  for (auto& [name, value] : space.fixed)
    value = scenario::read_timed_as_attribute(fmt::format("--fix {}={}", name, value), name, value, timed, findings);
  findings.throw_if_any();
  space.base = timed.parallelism;
}

}  // namespace

LayoutSetting layout_setting(scenario::Scenario base, const LayoutOptions& options) {
  check_layout_base(base);
  LayoutSetting setting;
  setting.run = run_in_question(base, options.run);
  setting.timed = timed_as_of(base, {});
  setting.timed.shape = spec::shape_of_workload(*base.timed_as);
  take_flow(base);
  setting.cluster = cluster_by_flow(base);
  LayoutSpace& space = setting.space;
  space.devices = static_cast<std::int64_t>(base.all_devices().size());
  space.devices_per_node = devices_per_node(base);
  space.global_batch =
      options.global_batch.value_or(base.timed_as->batch * static_cast<std::int64_t>(base.workers.size()));
  space.plain_attention = base.timed_as->attention == spec::Attention::plain;
  const methods::MethodInfo* info = algorithms::algorithm_registry().find(setting.run.algorithm);
  space.divides_sequences = info != nullptr && methods::may_divide_sequences(*info, setting.run);
  space.most_sharding = info != nullptr ? methods::most_sharding(*info, setting.run) : spec::Sharding::none;
  space.fixed = options.fixed;
  read_fixed(space, *base.timed_as);
  setting.written.how = base.timed_as->parallelism;
  setting.written.replicas = static_cast<std::int64_t>(base.workers.size());
  setting.written.batch = space.global_batch / setting.written.replicas;
  setting.base = std::move(base);
  return setting;
}

}  // namespace dadsim::study
