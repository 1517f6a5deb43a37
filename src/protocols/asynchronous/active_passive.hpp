#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "step/neighbours.hpp"

namespace dadsim::protocols {

/// Workers in two groups: active ones ask passive ones to average, and nobody waits for one that itself waits (AD-PSGD;
/// Lian et al., arXiv 1710.06952, section 4).
struct ActivePassive {
  std::vector<bool> active;                         ///< per worker
  std::vector<std::vector<std::int32_t>> partners;  ///< per worker: neighbours in the other group, in rising order
  std::size_t left_out = 0;                         ///< pairs of neighbours within a group, who never average
};

/// Splits a graph, whose edges count in both directions. Where all edges can go from side to side (it is bipartite: a
/// ring of an even number), they do. Otherwise workers of even number are active, if the edges that are left hold the
/// graph together; if not, those at an even distance from worker 0, which always does so where the graph hangs
/// together.
ActivePassive split_into_active_and_passive(const step::Neighbours& graph);

}  // namespace dadsim::protocols
