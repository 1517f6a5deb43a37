// Direct: each rank sends its block to every other rank at once. All-reduce: every rank sends block d to rank d, then
// rank d sends its sum to all. This needs the fewest rounds, with N − 1 messages per rank in each.
#include <algorithm>

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class Direct final : public BlockRounds {
 public:
  Direct(Rank ranks, BlockSizes sizes, bool reduces, bool gathers)
      : BlockRounds(ranks, std::move(sizes)), reduces_(reduces), gathers_(gathers) {}

  std::int64_t count() const override { return (reduces_ ? 1 : 0) + (gathers_ ? 1 : 0); }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const bool reduce = reduces_ && round == 0;
    for (Rank step = 1; step < ranks(); ++step) {
      const Rank to = wrap(rank + step);
      out.push_back({to, reduce ? to : rank, 1, reduce});
    }
  }

  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const bool reduce = reduces_ && round == 0;
    for (Rank step = 1; step < ranks(); ++step) {
      const Rank from = wrap(rank - step);
      out.push_back({from, reduce ? rank : from, 1, reduce});
    }
  }

  /// In an all-gather the rank with the largest block sends the largest number of bytes, and the rank with the smallest
  /// block receives it. In the other collectives all blocks are equal.
  double busiest_bytes(std::int64_t) const override {
    double smallest = sizes().largest();
    if (!sizes().equal()) {
      for (Rank rank = 0; rank < ranks(); ++rank) smallest = std::min(smallest, run_bytes(rank, 1));
    }
    const double others = sizes().equal() ? smallest * (ranks() - 1) : sizes().total() - smallest;
    return std::max(sizes().largest() * (ranks() - 1), others);
  }

 private:
  bool reduces_, gathers_;
};

}  // namespace

std::unique_ptr<BlockRounds> direct_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<Direct>(n, BlockSizes(n, request.bytes.front() / n), true, true);
}

std::unique_ptr<BlockRounds> direct_reduce_scatter(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<Direct>(n, BlockSizes(n, request.bytes.front() / n), true, false);
}

std::unique_ptr<BlockRounds> direct_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<Direct>(layout.ranks(), one_block_per_rank(request, layout.ranks()), false, true);
}

}  // namespace dadsim::collectives
