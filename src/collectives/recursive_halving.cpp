// Recursive halving reduce-scatter (Thakur, Rabenseifner, Gropp 2005, section 3.3): partners at N/2, N/4, … 1; every
// round sends half as many blocks as the round before.
#include "collectives/fold.hpp"
#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class RecursiveHalving final : public FoldedRounds {
 public:
  RecursiveHalving(Rank ranks, double bytes) : FoldedRounds(ranks, BlockSizes(ranks, bytes / ranks)) {
    set_exchanges(log2_power());
  }

 private:
  BlockParcel exchanged(Rank index, std::int64_t exchange) const override {
    const Rank distance = power() >> (exchange + 1);
    const Rank partner = index ^ distance;
    const Rank half = partner & ~(distance - 1);  // first index of the partner's half
    const Rank first = first_rank(half);
    return {partner, first, first_rank(half + distance) - first, true};
  }

  BlockParcel folded(Rank) const override { return {0, 0, blocks(), true}; }
  BlockParcel unfolded(Rank even) const override { return {0, even, 1, false}; }
};

}  // namespace

std::unique_ptr<BlockRounds> recursive_halving_reduce_scatter(const CollectiveRequest& request,
                                                              const RankLayout& layout) {
  return std::make_unique<RecursiveHalving>(layout.ranks(), request.bytes.front());
}

}  // namespace dadsim::collectives
