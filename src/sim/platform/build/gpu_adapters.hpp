#pragma once

#include <optional>

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Returns the cluster as its network is built: one line per adapter, or per GPU with several adapters. The path
/// between the line and the GPUs limits the line's rate. Only links and `rails` change.
spec::GpuClusterSpec with_adapters(const spec::GpuClusterSpec& spec);

/// Returns the slot that several GPUs share, each way; nullopt if each GPU has its own, whose limit with_adapters puts
/// into the lines. `group` is one of node_groups() of such a cluster.
std::optional<spec::LinkSpec> shared_slot(const spec::NodeGroup& group);
/// Returns the byte/s of payload through all shared slots of such a node; infinity if GPUs share none.
double through_shared_slots(const spec::NodeGroup& group);

}  // namespace dadsim::sim
