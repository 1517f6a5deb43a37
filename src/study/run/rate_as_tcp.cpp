#include "study/run/rate_as_tcp.hpp"

#include <algorithm>
#include <variant>

#include "scenario/elements/read_link.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/cluster_of.hpp"
#include "study/setting/outages_of.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

std::optional<report::Statement> rate_as_tcp(const scenario::ScenarioSource& source,
                                             const std::vector<std::string>& overrides,
                                             const scenario::Scenario& scenario, const Learned& learned,
                                             const report::Result& result) {
  const auto* cluster = std::get_if<spec::GpuClusterSpec>(&scenario.platform.what);
  if (cluster == nullptr || spec::all_nodes(*cluster) < 2 || !scenario::is_own_link(cluster->nic)) return {};
  const bool by_events = std::ranges::any_of(
      scenario.runs, [&](const spec::RunSpec& run) { return run.event_driven || may_be_absent(scenario, run); });
  if (cluster->nic.transport != spec::Transport::tcp || by_events) return {};
  const auto run =
      std::ranges::find_if(result.runs, [](const report::RunResult& one) { return one.spec.communicates; });
  if (run == result.runs.end()) return {};
  report::Statement statement{"rate-as-tcp", {run->spec.label}};
  statement.with("rate", cluster->nic.bandwidth).with("step_seconds", run->step_seconds);
  std::vector<std::string> by_rdma = overrides;
  by_rdma.emplace_back("platform.gpu-cluster.transport=rdma");
  try {
    scenario::Scenario other =
        source.load(by_rdma, scenario.timing_only ? make_catalog_without_learning() : make_catalog());
    other.timing_only = scenario.timing_only;
    const report::Result timed = time_scenario(other, learned, cluster_of(other), false);
    statement.with("rdma_seconds", timed.runs.at(static_cast<std::size_t>(run - result.runs.begin())).step_seconds);
  } catch (const InputError&) {  // the platform lies in another file
  } catch (const sim::SimulationError&) {
  }
  return statement;
}

}  // namespace dadsim::study
