#pragma once

#include <cstdint>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Into how many segments the vector is cut. S of them take, with M nodes of L ranks, about the time of one segment
/// alone (2(L − 1) rounds of b/SL inside, 2(M − 1) of b/SLM between) and S − 1 times what a rank then has to send in a
/// round: 2(L − 1) messages inside or 2(M − 1) between, whichever take longer.
std::int64_t hierarchical_pipelined_segments(double bytes, double segment_bytes, const RankLayout& layout);

}  // namespace dadsim::collectives
