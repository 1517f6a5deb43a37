#pragma once

#include <cstdint>

#include "scenario/elements/elements.hpp"

namespace dadsim::scenario {

/// What <gpu-cluster> says of adapters beside their links: slots, and how their bytes travel over TCP.
std::vector<Row<spec::GpuClusterSpec>> adapter_rows();

/// Reads slot, once the adapters have been read.
void read_slot(const Node& node, spec::GpuClusterSpec& cluster, const ReadContext& context);
/// That `behind` GPUs of each slot go into the `gpus` of a node. With a finding of `node` where they do not.
void check_slots(const Node& node, const spec::LinkSpec& slot, std::int64_t behind, std::int64_t gpus);

/// Reads queue and congestion, and says what means nothing. The links have been read, and the rows.
void read_adapters(const Node& node, spec::GpuClusterSpec& cluster);

}  // namespace dadsim::scenario
