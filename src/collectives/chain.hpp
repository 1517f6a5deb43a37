#pragma once

#include <cstdint>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Returns the number S of segments of a chain's vector: the time is (N − 2 + S)·(α + b/(S·β)).
std::int64_t chain_segments(double bytes, double segment_bytes, const RankLayout& layout);

}  // namespace dadsim::collectives
