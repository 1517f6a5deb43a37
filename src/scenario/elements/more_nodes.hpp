#pragma once

#include "scenario/elements/elements.hpp"
#include "scenario/elements/read_platform.hpp"

namespace dadsim::scenario {

/// Latency of a link inside a node of one's own beside which none stands: that of the catalogue's NVLink.
inline constexpr double kInside = 0.5e-6;

/// <more-nodes> of <gpu-cluster>: nodes that differ from the others.
const Table<spec::NodeGroup>& more_nodes_table();

/// All of them, into a cluster whose own nodes have been read, with their links.
void read_more_nodes(const Node& node, spec::GpuClusterSpec& cluster, const ReadContext& context);

}  // namespace dadsim::scenario
