// Bruck all-gather: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient algorithms for all-to-all
// communications in multiport message-passing systems, IEEE Trans. Parallel Distrib. Syst. 8 (1997). In round k rank r
// sends all its blocks, from its own on, to r − 2ᵏ. There are ⌈log₂ N⌉ rounds for any N; the last one carries the
// missing blocks only.
#include <algorithm>

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class Bruck final : public BlockRounds {
 public:
  Bruck(Rank ranks, BlockSizes sizes) : BlockRounds(ranks, std::move(sizes)) {}

  std::int64_t count() const override { return ceil_log2(ranks()); }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const std::int64_t distance = std::int64_t{1} << round;
    out.push_back({wrap(rank - distance), rank, std::min(distance, ranks() - distance), false});
  }

  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const std::int64_t distance = std::int64_t{1} << round;
    const Rank from = wrap(rank + distance);
    out.push_back({from, from, std::min(distance, ranks() - distance), false});
  }
};

}  // namespace

std::unique_ptr<BlockRounds> bruck_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<Bruck>(layout.ranks(), one_block_per_rank(request, layout.ranks()));
}

}  // namespace dadsim::collectives
