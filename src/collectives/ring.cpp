// Ring: rank r sends to r + 1 only, one block per round.
// All-reduce: P. Patarasu, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel
// Distrib. Comput. 69 (2009): a reduce-scatter of N − 1 rounds, then an all-gather of N − 1 rounds, blocks of b/N.
#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class Ring final : public BlockRounds {
 public:
  /// In round k, rank r sends block r − shift − k; up to round `reduced` the receiver adds it to its own.
  Ring(Rank ranks, BlockSizes sizes, std::int64_t count, std::int64_t reduced, Rank shift)
      : BlockRounds(ranks, std::move(sizes)), count_(count), reduced_(reduced), shift_(shift) {}

  std::int64_t count() const override { return count_; }

  void sent(Rank rank, std::int64_t round, std::vector<Parcel>& out) const override {
    out.push_back({wrap(rank + 1), block(rank, round), 1, round < reduced_});
  }

  void received(Rank rank, std::int64_t round, std::vector<Parcel>& out) const override {
    const Rank from = wrap(rank - 1);
    out.push_back({from, block(from, round), 1, round < reduced_});
  }

  std::vector<RoundPhase> phases() const override { return {{0, count_, sizes().equal() || count_ == 1}}; }

  /// In every round every block is on its way somewhere.
  double busiest_bytes(std::int64_t) const override { return sizes().largest(); }

 private:
  Rank block(Rank sender, std::int64_t round) const { return wrap((sender - shift_ - round) % ranks()); }

  std::int64_t count_, reduced_;
  Rank shift_;
};

}  // namespace

std::unique_ptr<BlockRounds> ring_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<Ring>(n, BlockSizes(n, request.bytes.front() / n), 2 * (std::int64_t{n} - 1), n - 1, 0);
}

std::unique_ptr<BlockRounds> ring_reduce_scatter(const CollectiveRequest& request, const RankLayout& layout) {
  // One block behind the all-reduce, so that the last one to arrive at rank r, complete, is block r.
  const Rank n = layout.ranks();
  return std::make_unique<Ring>(n, BlockSizes(n, request.bytes.front() / n), n - 1, n - 1, 1);
}

std::unique_ptr<BlockRounds> ring_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<Ring>(n, one_block_per_rank(request, n), n - 1, 0, 0);
}

}  // namespace dadsim::collectives
