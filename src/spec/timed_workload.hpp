#pragma once

#include <optional>

#include "spec/layer_shape.hpp"
#include "spec/specification.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::spec {

/// Returns the layers of a registry workload with the sizes of <timed-as>. Throws std::invalid_argument, with a message
/// for the user, if the sizes give no valid network.
ModelShape shape_of_workload(const TimedAsSpec& asked);
/// Returns a fault in the sizes of <timed-as>, in the workload's attention, or in its division among devices; none if
/// all are right.
std::optional<Fault> fault_of_workload(const TimedAsSpec& asked);

/// Returns a fault if the network lacks the parts that the backward pass should recompute.
std::optional<Fault> fault_of_recomputation(const ModelShape& shape, const ParallelismSpec& how);

/// Returns whether the workload has experts; false if the sizes give no valid network.
bool has_experts(const TimedAsSpec& asked);

/// Returns whether the workload has tables of which several rows are read and added (DLRM); false if the sizes give no
/// valid network.
bool has_pooled_tables(const TimedAsSpec& asked);

}  // namespace dadsim::spec
