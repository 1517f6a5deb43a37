// Flat: all ranks send to the root, or the root sends to all ranks, in one round. A parameter server does both in turn
// with the whole vector (M. Li et al., Scaling distributed machine learning with the parameter server, OSDI 2014, with
// a single server that is one of the ranks).
#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class FlatRounds final : public BlockRounds {
 public:
  FlatRounds(const CollectiveRequest& request, Rank ranks, BlockSizes sizes, bool to_root, bool from_root)
      : BlockRounds(ranks, std::move(sizes)), root_(request.root), to_root_(to_root), from_root_(from_root) {}

  std::int64_t count() const override { return (to_root_ ? 1 : 0) + (from_root_ ? 1 : 0); }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    add(rank, is_up(round), round, out);
  }
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    add(rank, !is_up(round), round, out);
  }

 private:
  bool is_up(std::int64_t round) const { return to_root_ && round == 0; }

  /// Appends the messages of `rank`: one if it is a leaf (`at_leaf`), one per leaf if it is the root.
  void add(Rank rank, bool at_leaf, std::int64_t round, std::vector<BlockParcel>& out) const {
    const bool reduce = is_up(round) && from_root_;
    const auto block = [&](Rank leaf) { return blocks() == 1 ? 0 : leaf; };
    if (at_leaf) {
      if (rank != root_) out.push_back({root_, block(rank), 1, reduce});
    } else if (rank == root_) {
      for (Rank leaf = 0; leaf < ranks(); ++leaf) {
        if (leaf != root_) out.push_back({leaf, block(leaf), 1, reduce});
      }
    }
  }

  Rank root_;
  bool to_root_, from_root_;
};

}  // namespace

std::unique_ptr<BlockRounds> parameter_server_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<FlatRounds>(request, layout.ranks(), BlockSizes(1, request.bytes.front()), true, true);
}

std::unique_ptr<BlockRounds> flat_broadcast(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<FlatRounds>(request, layout.ranks(), BlockSizes(1, request.bytes.front()), false, true);
}

std::unique_ptr<BlockRounds> flat_gather(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<FlatRounds>(request, n, one_block_per_rank(request, n), true, false);
}

std::unique_ptr<BlockRounds> flat_scatter(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<FlatRounds>(request, n, one_block_per_rank(request, n), false, true);
}

}  // namespace dadsim::collectives
