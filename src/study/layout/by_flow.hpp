#pragma once

#include "report/layout/layout_report.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "spec/layer_shape.hpp"

namespace dadsim::study {

/// The network as a device of a layout has it before its layers are divided: sequences and experts are. Throws
/// std::invalid_argument, in words, where they cannot be divided so.
spec::ModelShape with_parts_of(const spec::ModelShape& whole, const report::Layout& layout);

/// How layouts are simulated unless the scenario says it: by flow, since many have to be and messages of one can take
/// minutes. Where messages alone can follow the network (it changes over time, or others use it) it stays as it is.
void take_flow(scenario::Scenario& scenario);

/// The cluster of a scenario whose fidelity take_flow() chose: what flow does not take fails.
sim::Cluster cluster_by_flow(const scenario::Scenario& scenario);

}  // namespace dadsim::study
