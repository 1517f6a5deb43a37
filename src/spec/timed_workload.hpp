#pragma once

#include <optional>

#include "spec/layer_shape.hpp"
#include "spec/specification.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::spec {

/// Returns the layers of a registry workload with the sizes of <timed-as>. Throws std::invalid_argument, with a message
/// for the user, for sizes that make no network.
ModelShape shape_of_workload(const TimedAsSpec& asked);
/// Checks the sizes of <timed-as>, the workload's attention, and its division among devices.
std::optional<Fault> fault_of_workload(const TimedAsSpec& asked);

/// Checks that the network has the parts that its backward pass is to recompute.
std::optional<Fault> fault_of_recomputation(const ModelShape& shape, const ParallelismSpec& how);

/// Returns whether the workload has experts; false for sizes that make no network.
bool has_experts(const TimedAsSpec& asked);

/// Returns whether the workload has tables of which several rows are read and added at once (DLRM); false if the sizes
/// make no network.
bool has_pooled_tables(const TimedAsSpec& asked);

}  // namespace dadsim::spec
