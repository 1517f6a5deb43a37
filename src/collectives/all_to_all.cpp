// All-to-all. Direct: all N − 1 messages of a rank at once. Pairwise (Thakur, Rabenseifner, Gropp 2005, section 3.2):
// one partner per round, N − 1 rounds. If N is a power of two, rank r exchanges with r ⊕ k; otherwise it sends to r + k
// and receives from r − k.

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

/// Block s·N + d goes from s to d; its size depends on s alone.
class AllToAll : public BlockRounds {
 public:
  std::int64_t blocks() const final { return std::int64_t{ranks()} * ranks(); }
  double run_bytes(std::int64_t first, std::int64_t blocks) const final {
    // Runs never cross senders here.
    return sizes().run(first / ranks(), 1) * static_cast<double>(blocks);
  }

 protected:
  using BlockRounds::BlockRounds;
  BlockParcel parcel(Rank peer, Rank from, Rank to) const {
    return {peer, std::int64_t{from} * ranks() + to, 1, false};
  }
};

class DirectAllToAll final : public AllToAll {
 public:
  DirectAllToAll(Rank ranks, BlockSizes sizes) : AllToAll(ranks, std::move(sizes)) {}

  std::int64_t count() const override { return 1; }

  void sent(Rank rank, std::int64_t, std::vector<BlockParcel>& out) const override {
    for (Rank step = 1; step < ranks(); ++step) {
      const Rank to = wrap(rank + step);
      out.push_back(parcel(to, rank, to));
    }
  }

  void received(Rank rank, std::int64_t, std::vector<BlockParcel>& out) const override {
    for (Rank step = 1; step < ranks(); ++step) {
      const Rank from = wrap(rank - step);
      out.push_back(parcel(from, from, rank));
    }
  }

  /// Returns the bytes that the rank with the largest blocks sends; no rank receives more.
  double busiest_bytes(std::int64_t) const override { return sizes().largest() * (ranks() - 1); }
};

class PairwiseAllToAll final : public AllToAll {
 public:
  PairwiseAllToAll(Rank ranks, BlockSizes sizes) : AllToAll(ranks, std::move(sizes)) {}

  std::int64_t count() const override { return ranks() - 1; }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const Rank step = static_cast<Rank>(round + 1);
    const Rank to = is_power_of_two(ranks()) ? rank ^ step : wrap(rank + step);
    out.push_back(parcel(to, rank, to));
  }

  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const Rank step = static_cast<Rank>(round + 1);
    const Rank from = is_power_of_two(ranks()) ? rank ^ step : wrap(rank - step);
    out.push_back(parcel(from, from, rank));
  }

  double busiest_bytes(std::int64_t) const override { return sizes().largest(); }
};

}  // namespace

std::unique_ptr<BlockRounds> direct_all_to_all(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<DirectAllToAll>(layout.ranks(), one_block_per_rank(request, layout.ranks()));
}

std::unique_ptr<BlockRounds> pairwise_all_to_all(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<PairwiseAllToAll>(layout.ranks(), one_block_per_rank(request, layout.ranks()));
}

}  // namespace dadsim::collectives
