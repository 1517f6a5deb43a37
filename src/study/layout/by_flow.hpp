#pragma once

#include "report/layout/layout_report.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "spec/layer_shape.hpp"

namespace dadsim::study {

/// Returns one device's network in a layout: sequences and experts are divided, layers are whole. Throws
/// std::invalid_argument, in words, if they do not divide.
spec::ModelShape with_parts_of(const spec::ModelShape& whole, const report::Layout& layout);

/// Sets the fidelity to flow unless the scenario sets one: a search times many layouts, and simulating messages can
/// take minutes for each. Keeps the fidelity if only messages can simulate the network (it changes over time, or
/// carries other traffic).
void take_flow(scenario::Scenario& scenario);

/// Returns the cluster of a scenario after take_flow(). If flow was chosen, timing fails for anything that flow cannot
/// simulate.
sim::Cluster cluster_by_flow(const scenario::Scenario& scenario);

}  // namespace dadsim::study
