#pragma once

#include <cstdint>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Returns the number of equal segments into which a pipelined algorithm cuts `bytes`. With `segment_bytes` above 0:
/// the fewest segments that are no larger. Otherwise S = √(fill·bytes/(α·β)), which minimises the terms of the time
/// with S: S·α + fill·bytes/(S·β). `fill` is the number of rounds until the pipeline is full, each with one segment.
/// Segments below 4 KiB and more than 1,024 segments are never chosen, because α-β omits the work per message, which
/// would matter.
std::int64_t segment_count(double bytes, double segment_bytes, double fill, const RankLayout::Channel& channel);

}  // namespace dadsim::collectives
