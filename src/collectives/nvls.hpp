#pragma once

#include <cstdint>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Share of the links' payload rate that NVLS reaches on Hopper according to NCCL's tuner (nccl_generations.csv).
double nvls_efficiency();
/// Returns the share for NVLSTree, which leaves one of sixteen channels unused (src/graph/tuning.cc, intraBw of
/// NVLSTree).
inline double nvls_tree_efficiency() { return nvls_efficiency() * 15 / 16; }

/// Returns the number of segments of the vector. S segments take about 2(S + 2)·α + (S + 1)/S · (N + 1)/N ·
/// b/(nvls_efficiency·β).
std::int64_t nvls_segments(double bytes, double segment_bytes, const RankLayout& layout);

}  // namespace dadsim::collectives
