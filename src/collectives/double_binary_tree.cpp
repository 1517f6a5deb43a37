// Double binary tree all-reduce: P. Sanders, J. Speck, J. L. Träff, Two-tree algorithms for full bandwidth broadcast,
// reduction and scan, Parallel Comput. 35 (2009), as in NCCL 2.4 (src/graph/trees.cc). Each of two binary trees reduces
// and broadcasts half of the vector in segments. An inner rank of one tree is a leaf of the other (with at most one
// exception), so that the load of all ranks is equal. Each tree has its own connections: ranks adjacent in both trees
// have two.
#include "collectives/double_binary_tree.hpp"

#include <algorithm>
#include <utility>

#include "collectives/layouts.hpp"
#include "collectives/segments.hpp"

namespace dadsim::collectives {

TreePlace place_in_tree(Rank place, Rank n) {
  TreePlace result;
  for (Rank up = place; up != 0; ++result.depth) {
    const Rank bit = up & -up;
    const Rank parent = (up ^ bit) | (bit << 1);
    up = parent < n ? parent : up ^ bit;
    if (result.depth == 0) result.parent = up;
  }
  if (n < 2) return result;
  if (place == 0) {
    result.children[0] = Rank{1} << (ceil_log2(n) - 1);
    return result;
  }
  const Rank bit = place & -place;
  if (bit == 1) return result;
  result.children[0] = place - bit / 2;
  // The right subtree is cut off at n. Its root is the first place below n along its left edge.
  for (Rank step = bit / 2; step > 0; step /= 2) {
    if (place + step < n) {
      result.children[1] = place + step;
      break;
    }
  }
  return result;
}

Rank rank_to_place(Rank rank, int tree, Rank n) {
  if (tree == 0) return rank;
  return n % 2 == 0 ? n - 1 - rank : (rank + n - 1) % n;
}

Rank place_to_rank(Rank place, int tree, Rank n) {
  if (tree == 0) return place;
  return n % 2 == 0 ? n - 1 - place : (place + 1) % n;
}

Rank most_neighbours(Rank n) {
  Rank most = 0;
  for (Rank rank = 0; rank < n; ++rank) {
    Rank own = 0;
    for (int tree = 0; tree < 2; ++tree) {
      const TreePlace place = place_in_tree(rank_to_place(rank, tree, n), n);
      for (const Rank other : {place.parent, place.children[0], place.children[1]}) own += other >= 0 ? 1 : 0;
    }
    most = std::max(most, own);
  }
  return most;
}

namespace {

class DoubleBinaryTree final : public BlockRounds {
 public:
  DoubleBinaryTree(Rank ranks, double bytes, std::int64_t segments)
      : BlockRounds(ranks, BlockSizes(2 * segments, bytes / 2 / static_cast<double>(segments))),
        segments_(segments),
        depth_(ceil_log2(ranks)) {}

  /// A segment takes one round per level up and one per level down; the next segment follows one round later.
  std::int64_t count() const override { return std::int64_t{2} * depth_ + segments_ - 1; }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    for_both_trees(rank, out, [&](int tree, const TreePlace& place, int depth, auto&& add) {
      if (place.parent >= 0) add(place.parent, tree, round - (depth_ - depth), true);
      for (const Rank child : place.children) {
        if (child >= 0) add(child, tree, round - (depth_ + depth), false);
      }
    });
  }

  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    for_both_trees(rank, out, [&](int tree, const TreePlace& place, int depth, auto&& add) {
      for (const Rank child : place.children) {
        if (child >= 0) add(child, tree, round - (depth_ - depth - 1), true);
      }
      if (place.parent >= 0) add(place.parent, tree, round - (depth_ + depth - 1), false);
    });
  }

  std::vector<RoundPhase> phases() const override {
    const std::int64_t fill = 2 * depth_ - 1;  // rounds until the first segment has reached the last level
    if (segments_ <= fill) return BlockRounds::phases();
    return {{0, fill, fill == 1}, {fill, segments_ - fill, true}, {segments_, fill, fill == 1}};
  }

 private:
  template <typename Visit>
  void for_both_trees(Rank rank, std::vector<BlockParcel>& out, Visit&& visit) const {
    const auto start = static_cast<std::ptrdiff_t>(out.size());
    for (int tree = 0; tree < 2; ++tree) {
      const TreePlace place = place_in_tree(rank_to_place(rank, tree, ranks()), ranks());
      visit(tree, place, place.depth, [&](Rank peer, int of, std::int64_t segment, bool reduce) {
        if (segment < 0 || segment >= segments_) return;
        out.push_back({place_to_rank(peer, of, ranks()), of * segments_ + segment, 1, reduce, 1, of});
      });
    }
    std::stable_sort(out.begin() + start, out.end(), [](const BlockParcel& a, const BlockParcel& b) {
      return std::pair(a.peer, a.channel) < std::pair(b.peer, b.channel);
    });
  }

  std::int64_t segments_;
  int depth_;
};

}  // namespace

std::int64_t double_binary_tree_segments(double bytes, double segment_bytes, const RankLayout& layout) {
  const double levels = ceil_log2(layout.ranks());
  return segment_count(bytes / 2, segment_bytes, 2 * (2 * levels - 2), slowest_channel(layout));
}

std::unique_ptr<BlockRounds> double_binary_tree_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  const double bytes = request.bytes.front();
  return std::make_unique<DoubleBinaryTree>(layout.ranks(), bytes,
                                            double_binary_tree_segments(bytes, request.segment_bytes, layout));
}

}  // namespace dadsim::collectives
