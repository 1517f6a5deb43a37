// PAT (parallel aggregated trees, NCCL 2.23; S. Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter
// operations at scale, arXiv:2506.20252). Every rank's block travels down its own binomial tree; a message carries the
// blocks of all trees between two ranks. All-gather: partners at P/2, P/4, … 1 for the next power of two P; distant
// partners come first, while messages are small. Reduce-scatter: the reverse. ⌈log₂ N⌉ rounds for any N.

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class Pat final : public BlockRounds {
 public:
  Pat(Rank ranks, BlockSizes sizes, bool reduces)
      : BlockRounds(ranks, std::move(sizes)), reduces_(reduces), levels_(ceil_log2(ranks)) {
    set_protocol(Protocol::simple);
  }

  std::int64_t count() const override { return levels_; }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const std::int64_t d = distance(round);
    if (reduces_) {
      add(wrap(rank - d), wrap(rank - d), d, out);
    } else {
      add(wrap(rank + d), rank, d, out);
    }
  }
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const std::int64_t d = distance(round);
    if (reduces_) {
      add(wrap(rank + d), rank, d, out);
    } else {
      add(wrap(rank - d), wrap(rank - d), d, out);
    }
  }

  /// Combines equal blocks into one parcel, because a message may have thousands of them.
  void sends(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override {
    if (!sizes().equal()) return BlockRounds::sends(rank, round, out);
    const std::int64_t d = distance(round);
    out.push_back({wrap(reduces_ ? rank - d : rank + d), bytes_at(d)});
  }
  void receives(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override {
    if (!sizes().equal()) return BlockRounds::receives(rank, round, out);
    const std::int64_t d = distance(round);
    out.push_back({wrap(reduces_ ? rank + d : rank - d), bytes_at(d)});
  }
  double busiest_bytes(std::int64_t round) const override {
    return sizes().equal() ? bytes_at(distance(round)) : BlockRounds::busiest_bytes(round);
  }

 private:
  std::int64_t distance(std::int64_t round) const {
    return std::int64_t{1} << (reduces_ ? round : levels_ - 1 - round);
  }
  double bytes_at(std::int64_t d) const {
    const std::int64_t blocks = (ranks() - 1 - d) / (2 * d) + 1;
    return static_cast<double>(blocks) * sizes().largest();
  }
  /// Appends the blocks of the ranks at distances 0, 2d, 4d, … before `nearest`, whose trees have an edge of length d
  /// here.
  void add(Rank peer, Rank nearest, std::int64_t d, std::vector<BlockParcel>& out) const {
    for (std::int64_t before = 0; before + d < ranks(); before += 2 * d) {
      out.push_back({peer, wrap(nearest - before), 1, reduces_});
    }
  }

  bool reduces_;
  int levels_;
};

}  // namespace

std::unique_ptr<BlockRounds> pat_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<Pat>(layout.ranks(), one_block_per_rank(request, layout.ranks()), false);
}

std::unique_ptr<BlockRounds> pat_reduce_scatter(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<Pat>(n, BlockSizes(n, request.bytes.front() / n), true);
}

}  // namespace dadsim::collectives
