#pragma once

#include <cstdint>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Into how many segments of the same size a pipelined algorithm cuts `bytes`. With `segment_bytes` above 0: the fewest
/// that are no larger. Otherwise the S that makes S·α + fill·bytes/(S·β), the part of the time that depends on S, the
/// least: S = √(fill·bytes/(α·β)); `fill` is the number of rounds until the pipeline is full, each with one segment.
/// Segments below 4 KiB and more than 1,024 of them are never chosen: there the work per message, which α-β leaves out,
/// would count.
std::int64_t segment_count(double bytes, double segment_bytes, double fill, const RankLayout::Channel& channel);

}  // namespace dadsim::collectives
