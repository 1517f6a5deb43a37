#pragma once

#include <cstdint>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Place in the binary tree over places 0 … n − 1. Place 0 is the root and has one child. Below it the tree is in
/// symmetric order: a place's lowest set bit is its height, so that odd places are leaves.
struct TreePlace {
  Rank parent = -1;
  Rank children[2] = {-1, -1};
  int depth = 0;  ///< edges up to the root
};
TreePlace place_in_tree(Rank place, Rank n);

/// Maps n ranks to places in the two trees, and back. The second tree is the mirror image of the first (even n), or
/// shifted by one rank (odd n). An inner rank of one tree is then a leaf of the other (with at most one exception).
Rank rank_to_place(Rank rank, int tree, Rank n);
Rank place_to_rank(Rank place, int tree, Rank n);

/// Returns the largest number of neighbours of a rank in both trees together: four, for four ranks or more.
Rank most_neighbours(Rank n);

/// Returns the number S of segments of each tree's half of the vector. With D = ⌈log₂ N⌉ levels the time is about 2D·(α
/// + b/(S·β)) + (S − 1)·(α + 2b/(S·β)). While the pipeline fills or drains, a rank handles at most two segments of b/2S
/// per round; otherwise four.
std::int64_t double_binary_tree_segments(double bytes, double segment_bytes, const RankLayout& layout);

}  // namespace dadsim::collectives
