// Halving-doubling all-reduce: R. Rabenseifner, Optimization of collective reduction operations, ICCS 2004. A
// reduce-scatter by vector halving and distance doubling is followed by an all-gather by vector doubling and distance
// halving, so that the largest messages have the shortest distance.
#include "collectives/fold.hpp"
#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class HalvingDoubling final : public FoldedRounds {
 public:
  HalvingDoubling(Rank ranks, double bytes)
      : FoldedRounds(ranks, BlockSizes(power_of_two_within(ranks), bytes / power_of_two_within(ranks))) {
    set_exchanges(std::int64_t{2} * log2_power());
  }

 private:
  /// Returns the first of the (power >> halvings) blocks that `index` keeps after `halvings` halvings. Bit i of the
  /// index determines the half kept in halving i.
  std::int64_t kept(Rank index, int halvings) const {
    std::int64_t first = 0;
    for (int i = 0; i < halvings; ++i) {
      if ((index >> i & 1) != 0) first += power() >> (i + 1);
    }
    return first;
  }

  BlockParcel exchanged(Rank index, std::int64_t exchange) const override {
    const bool halving = exchange < log2_power();
    const int i = static_cast<int>(halving ? exchange : 2 * log2_power() - 1 - exchange);
    const Rank partner = index ^ (Rank{1} << i);
    return {partner, kept(halving ? partner : index, i + 1), power() >> (i + 1), halving};
  }

  BlockParcel folded(Rank) const override { return {0, 0, blocks(), true}; }
  BlockParcel unfolded(Rank) const override { return {0, 0, blocks(), false}; }
};

}  // namespace

std::unique_ptr<BlockRounds> halving_doubling_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<HalvingDoubling>(layout.ranks(), request.bytes.front());
}

}  // namespace dadsim::collectives
