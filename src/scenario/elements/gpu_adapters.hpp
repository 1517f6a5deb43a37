#pragma once

#include "scenario/elements/elements.hpp"

namespace dadsim::scenario {

/// What <gpu-cluster> says of adapters beside their links: slots, and how their bytes travel over TCP.
std::vector<Row<spec::GpuClusterSpec>> adapter_rows();

/// Reads slot, queue and congestion, and says what means nothing. The links have been read, and the rows.
void read_adapters(const Node& node, spec::GpuClusterSpec& cluster, const ReadContext& context);

}  // namespace dadsim::scenario
