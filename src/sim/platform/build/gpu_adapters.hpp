#pragma once

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// The cluster as its network is made: one line for each adapter, or for each GPU where it has several adapters, as
/// fast as what lies between the line and the GPUs lets it be. Only its links and `rails` differ.
spec::GpuClusterSpec with_adapters(const spec::GpuClusterSpec& spec);

}  // namespace dadsim::sim
