#pragma once

#include <cstdint>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Into how many segments each tree cuts its half of the vector. With D = ⌈log₂ N⌉ levels the time is about
/// 2D·(α + b/(S·β)) + (S − 1)·(α + 2b/(S·β)): on the way up or down a rank has at most two segments of b/2S in hand at
/// a time, in between four.
std::int64_t double_binary_tree_segments(double bytes, double segment_bytes, const RankLayout& layout);

}  // namespace dadsim::collectives
