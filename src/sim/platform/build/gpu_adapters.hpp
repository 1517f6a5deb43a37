#pragma once

#include <optional>

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Returns the cluster as its network is built: one line per adapter, or per GPU if it has several adapters. The path
/// between the line and the GPUs limits the line's rate. Only links and `rails` change.
spec::GpuClusterSpec with_adapters(const spec::GpuClusterSpec& spec);

/// Returns the slot that several GPUs share, each way; nullopt if each GPU has its own. The limit of a GPU's own slot
/// is part of its line (with_adapters). `group`: one of node_groups() of a cluster returned by with_adapters.
std::optional<spec::LinkSpec> shared_slot(const spec::NodeGroup& group);
/// Returns the payload rate through all shared slots of one node of `group`, byte/s; infinity if GPUs share none.
double through_shared_slots(const spec::NodeGroup& group);

}  // namespace dadsim::sim
