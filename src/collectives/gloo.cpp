// The ring of gloo (github.com/facebookincubator/gloo, allreduce.cc and allgather_ring; PyTorch's CPU backend): blocks
// go round in segments of at most 1 MiB, at least two to a block, and two segments are in flight at a time. Here the
// two are one message: what both take together is the same, but for a wait of the second that the first could have
// covered. With two segments to a block, which is so up to 2 MiB a block, that is the plain ring.
//
// gloo sends when the receiver has said that it is ready: a round in which every rank tells the one before it, without
// bytes of its own, and a round of blocks. (A network that makes every message wait for its receiver,
// NetworkSpec::rendezvous, is not needed beside this, and would have the same wait twice.)
#include <algorithm>
#include <cmath>

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

constexpr double kSegment = 1 << 20;  // bytes
constexpr double kInFlight = 2;       // segments

class Gloo final : public BlockRounds {
 public:
  /// Block r·pieces + i: piece i of what rank r has (all-gather), or ends the reduce-scatter with the sum of.
  Gloo(Rank ranks, BlockSizes sizes, std::int64_t pieces, bool reduces)
      : BlockRounds(ranks, std::move(sizes)), pieces_(pieces), reduces_(reduces) {}

  std::int64_t count() const override { return 2 * (reduces_ ? 2 : 1) * (std::int64_t{ranks()} - 1) * pieces_; }

  void sent(Rank rank, std::int64_t round, std::vector<Parcel>& out) const override {
    if (is_of_blocks(round)) {
      add(wrap(rank + 1), rank, round / 2, out);
    } else {
      out.push_back({wrap(rank - 1), 0, 0, false});
    }
  }

  void received(Rank rank, std::int64_t round, std::vector<Parcel>& out) const override {
    if (is_of_blocks(round)) {
      add(wrap(rank - 1), wrap(rank - 1), round / 2, out);
    } else {
      out.push_back({wrap(rank + 1), 0, 0, false});
    }
  }

  Rank origin(std::int64_t block) const override { return static_cast<Rank>(block / pieces_); }

  /// In every round of blocks a piece of every block is on its way somewhere.
  double busiest_bytes(std::int64_t round) const override { return is_of_blocks(round) ? sizes().largest() : 0; }

 private:
  static bool is_of_blocks(std::int64_t round) { return round % 2 == 1; }

  void add(Rank peer, Rank sender, std::int64_t message, std::vector<Parcel>& out) const {
    const std::int64_t step = message / pieces_;
    const bool reduce = reduces_ && step < ranks() - 1;
    out.push_back({peer, wrap((sender - step) % ranks()) * pieces_ + message % pieces_, 1, reduce});
  }

  std::int64_t pieces_;  ///< messages to a block
  bool reduces_;
};

/// Messages to a block of so many segments.
std::int64_t messages_of(double segments) { return static_cast<std::int64_t>(std::ceil(segments / kInFlight)); }

}  // namespace

std::unique_ptr<BlockRounds> gloo_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  const double bytes = request.bytes.front();
  const double segments = std::max(std::ceil(bytes / kSegment), kInFlight * n);
  const std::int64_t pieces = messages_of(std::ceil(segments / n));
  return std::make_unique<Gloo>(n, BlockSizes(n * pieces, bytes / static_cast<double>(n * pieces)), pieces, true);
}

std::unique_ptr<BlockRounds> gloo_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  const BlockSizes blocks = one_block_per_rank(request, n);
  const std::int64_t pieces = messages_of(std::max(std::ceil(blocks.largest() / kSegment), kInFlight));
  if (blocks.equal()) {
    return std::make_unique<Gloo>(n, BlockSizes(n * pieces, blocks.largest() / static_cast<double>(pieces)), pieces,
                                  false);
  }
  std::vector<double> sizes;
  sizes.reserve(static_cast<std::size_t>(n * pieces));
  for (Rank rank = 0; rank < n; ++rank) {
    for (std::int64_t i = 0; i < pieces; ++i) sizes.push_back(blocks.run(rank, 1) / static_cast<double>(pieces));
  }
  return std::make_unique<Gloo>(n, BlockSizes(sizes), pieces, false);
}

}  // namespace dadsim::collectives
