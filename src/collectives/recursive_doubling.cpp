// Recursive doubling (Thakur, Rabenseifner, Gropp 2005): partners at 1, 2, 4, … N/2. All-reduce: every round sends the
// whole vector. All-gather: every round sends all blocks gathered so far, twice as many as the round before.
#include "collectives/fold.hpp"
#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class DoublingAllReduce final : public FoldedRounds {
 public:
  DoublingAllReduce(Rank ranks, double bytes) : FoldedRounds(ranks, BlockSizes(1, bytes)) {
    set_exchanges(log2_power());
  }

 private:
  BlockParcel exchanged(Rank index, std::int64_t exchange) const override {
    return {index ^ (Rank{1} << exchange), 0, 1, true};
  }
  BlockParcel folded(Rank) const override { return {0, 0, 1, true}; }
  BlockParcel unfolded(Rank) const override { return {0, 0, 1, false}; }
};

class DoublingAllGather final : public FoldedRounds {
 public:
  DoublingAllGather(Rank ranks, BlockSizes sizes) : FoldedRounds(ranks, std::move(sizes)) {
    set_exchanges(log2_power());
  }

 private:
  BlockParcel exchanged(Rank index, std::int64_t exchange) const override {
    const Rank distance = Rank{1} << exchange;
    const Rank group = index & ~(distance - 1);  // first index whose block has arrived
    const Rank first = first_rank(group);
    return {index ^ distance, first, first_rank(group + distance) - first, false};
  }
  BlockParcel folded(Rank even) const override { return {0, even, 1, false}; }
  /// Returns all blocks except the even rank's own, which it has from the start.
  BlockParcel unfolded(Rank even) const override { return {0, even + 1, blocks() - 1, false}; }
};

}  // namespace

std::unique_ptr<BlockRounds> recursive_doubling_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<DoublingAllReduce>(layout.ranks(), request.bytes.front());
}

std::unique_ptr<BlockRounds> recursive_doubling_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<DoublingAllGather>(layout.ranks(), one_block_per_rank(request, layout.ranks()));
}

}  // namespace dadsim::collectives
