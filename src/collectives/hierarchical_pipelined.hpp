#pragma once

#include <cstdint>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Returns the number S of segments. With M nodes of L ranks, S segments take about the time of one segment alone (2(L
/// − 1) rounds of b/SL inside, 2(M − 1) of b/SLM between), plus S − 1 times a rank's messages of a round: 2(L − 1)
/// inside or 2(M − 1) between, whichever take longer.
std::int64_t hierarchical_pipelined_segments(double bytes, double segment_bytes, const RankLayout& layout);

}  // namespace dadsim::collectives
