#pragma once

#include "report/layout/layout_report.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "spec/layer_shape.hpp"

namespace dadsim::study {

/// Returns the network of a device of a layout, with sequences and experts divided and layers whole. Throws
/// std::invalid_argument, in words, if they cannot be divided so.
spec::ModelShape with_parts_of(const spec::ModelShape& whole, const report::Layout& layout);

/// Sets the fidelity to flow unless the scenario has one: layouts are many, and simulating messages can take minutes
/// for each. The fidelity is unchanged if only messages can follow the network (it changes over time, or others use
/// it).
void take_flow(scenario::Scenario& scenario);

/// Returns the cluster of a scenario whose fidelity take_flow() chose; anything that flow cannot simulate fails.
sim::Cluster cluster_by_flow(const scenario::Scenario& scenario);

}  // namespace dadsim::study
