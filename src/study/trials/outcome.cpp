#include "study/trials/outcome.hpp"

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "scenario/elements/read_link.hpp"
#include "sim/simulator.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/cluster_of.hpp"
#include "study/setting/outages_of.hpp"

namespace dadsim::study {

std::optional<report::Statement> rate_as_tcp(const scenario::Scenario& scenario) {
  const auto* cluster = std::get_if<spec::GpuClusterSpec>(&scenario.platform.what);
  if (cluster == nullptr || spec::all_nodes(*cluster) < 2 || !scenario::is_own_link(cluster->nic)) return {};
  const bool by_events = std::ranges::any_of(
      scenario.runs, [&](const spec::RunSpec& run) { return run.event_driven || may_be_absent(scenario, run); });
  const auto run = std::ranges::find(scenario.runs, true, &spec::RunSpec::communicates);
  if (cluster->nic.transport != spec::Transport::tcp || by_events || run == scenario.runs.end()) return {};
  return report::Statement{"rate-as-tcp", {run->label}}.with("rate", cluster->nic.bandwidth);
}

void add_step_with_rdma(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                        const scenario::Scenario& scenario, const Learned& learned, report::Result& result) {
  if (!result.rate_as_tcp) return;
  std::vector<std::string> by_rdma = overrides;
  by_rdma.emplace_back("platform.gpu-cluster.transport=rdma");
  const auto timed = outcome_of([&] {
    scenario::Scenario other =
        source.load(by_rdma, scenario.timing_only ? make_catalog_without_learning() : make_catalog());
    other.timing_only = scenario.timing_only;
    sim::Cluster cluster = cluster_of(other);
    cluster.causes = false;
    return time_scenario(other, learned, cluster, false);
  });
  if (!timed.result) return;  // the platform may be a separate file
  const auto step_of = [&](const report::Result& one) {
    const auto shares = [](const report::RunResult& run) { return run.spec.communicates; };
    return std::ranges::find_if(one.runs, shares)->step_seconds;
  };
  result.rate_as_tcp->with("step_seconds", step_of(result)).with("rdma_seconds", step_of(*timed.result));
}

std::vector<Diagnostic> FailedOutcome::diagnostics() const {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& input) {
    return input.diagnostics();
  }
}

FailedOutcome failure_of(const std::function<void()>& trial) {
  const auto simulated = [&](const std::exception& error) {
    // A signal to the terminal's process group ends the simulations too.
    if (interrupted().load()) throw Cancelled();
    return FailedOutcome{{.what = error.what(), .remedy = ""}, error.what(), std::current_exception()};
  };
  try {
    trial();
    return {};
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().front();
    return {{first.what, first.remedy, first.not_built, error.is_infeasible()}, error.what(), std::current_exception()};
  } catch (const sim::SimulationError& error) {
    return simulated(error);
  } catch (const std::invalid_argument& error) {  // a setting requests an impossible division
    return simulated(error);
  }
}

}  // namespace dadsim::study
