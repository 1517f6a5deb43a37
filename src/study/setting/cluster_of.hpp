#pragma once

#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"

namespace dadsim::study {

/// The cluster that a scenario describes: its hosts and devices, each as quick as its own.
sim::Cluster cluster_of(const scenario::Scenario& scenario);
/// As a run has it, under conditions of its own.
sim::Cluster cluster_of_run(sim::Cluster cluster, const spec::RunSpec& run);

}  // namespace dadsim::study
