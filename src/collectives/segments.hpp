#pragma once

#include <cstdint>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Returns the number of equal segments into which a pipelined algorithm cuts `bytes`. With `segment_bytes` above 0,
/// returns the fewest segments of at most this size. Otherwise returns S = √(fill·bytes/(α·β)), which minimises S·α +
/// fill·bytes/(S·β), the terms of the time that depend on S; segments then have at least 4 KiB, and there are at most
/// 1,024, because the α-β model omits the work per message. `fill`: rounds until the pipeline is full, each with one
/// segment.
std::int64_t segment_count(double bytes, double segment_bytes, double fill, const RankLayout::Channel& channel);

}  // namespace dadsim::collectives
