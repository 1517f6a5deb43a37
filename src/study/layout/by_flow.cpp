#include "study/layout/by_flow.hpp"

#include <cstddef>

#include "spec/device_part.hpp"
#include "spec/expert_parallel.hpp"
#include "study/setting/cluster_of.hpp"

namespace dadsim::study {
namespace {

bool goes_by_flow(const scenario::Scenario& scenario) {
  return !scenario.network.rendezvous && !sim::network_differs(cluster_of(scenario));
}

}  // namespace

spec::ModelShape with_parts_of(const spec::ModelShape& whole, const report::Layout& layout) {
  return spec::with_divided_experts(spec::with_divided_sequences(whole, layout.how.context), layout.how,
                                    static_cast<std::size_t>(layout.replicas));
}

void take_flow(scenario::Scenario& scenario) {
  if (scenario.network.fidelity == spec::Fidelity::automatic && goes_by_flow(scenario))
    scenario.network.fidelity = spec::Fidelity::flow;
}

sim::Cluster cluster_by_flow(const scenario::Scenario& scenario) {
  sim::Cluster cluster = cluster_of(scenario);
  cluster.causes = false;
  cluster.flow_alone = scenario.network.fidelity == spec::Fidelity::flow && goes_by_flow(scenario);
  return cluster;
}

}  // namespace dadsim::study
