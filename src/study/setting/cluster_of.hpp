#pragma once

#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"

namespace dadsim::study {

/// Returns the cluster of a scenario: its hosts and devices, each with its own speed.
sim::Cluster cluster_of(const scenario::Scenario& scenario);
/// Returns the cluster of a run, under the run's own conditions.
sim::Cluster cluster_of_run(sim::Cluster cluster, const spec::RunSpec& run);

}  // namespace dadsim::study
