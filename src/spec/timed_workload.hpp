#pragma once

#include <optional>

#include "spec/layer_shape.hpp"
#include "spec/specification.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::spec {

/// The layers of a workload of the registry, as <timed-as> wants them. Throws std::invalid_argument, with words, for
/// sizes that make no network.
ModelShape shape_of_workload(const TimedAsSpec& asked);
/// What is wrong with these sizes, their attention or their division among devices; empty: nothing.
std::optional<Fault> fault_of_workload(const TimedAsSpec& asked);

/// Whether it has experts; false for sizes that make no network.
bool has_experts(const TimedAsSpec& asked);

}  // namespace dadsim::spec
