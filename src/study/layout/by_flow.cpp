#include "study/layout/by_flow.hpp"

#include "study/setting/cluster_of.hpp"

namespace dadsim::study {
namespace {

bool goes_by_flow(const scenario::Scenario& scenario) {
  return !scenario.network.rendezvous && !sim::network_differs(cluster_of(scenario));
}

}  // namespace

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
