#pragma once

#include <optional>

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// The cluster as its network is made: one line for each adapter, or for each GPU where it has several adapters, as
/// fast as what lies between the line and the GPUs lets it be. Only its links and `rails` differ.
spec::GpuClusterSpec with_adapters(const spec::GpuClusterSpec& spec);

/// The slot that several GPUs share, each way, of nodes like these; nullopt: each has its own, whose limit is in the
/// lines of with_adapters. `group` is one of node_groups() of such a cluster.
std::optional<spec::LinkSpec> shared_slot(const spec::NodeGroup& group);
/// Byte/s of payload that such nodes bring through their slots together; infinity: they share none.
double through_shared_slots(const spec::NodeGroup& group);

}  // namespace dadsim::sim
