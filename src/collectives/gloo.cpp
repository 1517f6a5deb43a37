// Rings of gloo (github.com/facebookincubator/gloo, allreduce.cc and allgather.cc; PyTorch's CPU backend), laid out as
// in these files. A block travels in segments, two of them in flight: a rank starts segment i after it has received and
// sent segment i − 2. gloo sends after a ready message from the receiver (pair.cc). The ready message travels in the
// opposite direction, and queues after data on the receiver's line.
//
// All-reduce: rank r sends to r − 1. A segment has at most 1 MiB, a block at least two segments. A rank posts the
// receive of its neighbour's segment before it sends its own. Each half ends when all segments have arrived. With more
// than two segments per block, gloo sends all but two of them once around the ring in each half, which is more than
// necessary: the surplus is summed into a block that is replaced later, or replaces a block by itself. All-gather: rank
// r sends to r + 1. Blocks of any size are cut in two; a segment is sent before the receive of the next is posted.
//
// PyTorch's gloo backend has two threads (ProcessGroupGloo.hpp, Options::threads): two collectives at once.
//
// NetworkSpec::rendezvous, which makes messages wait for their receivers, has no further effect: gloo's ready messages
// are already messages of the collective.
#include <cmath>

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

constexpr double kSegment = 1 << 20;   // largest segment, bytes
constexpr std::int64_t kInFlight = 2;  // segments in flight per block

/// Base of gloo's all-reduce and all-gather: segments travel around the ring in one direction.
class GlooRing : public BlockRounds {
 public:
  GlooRing(Rank ranks, BlockSizes sizes) : BlockRounds(ranks, std::move(sizes)) {}

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const final {
    add(towards(rank, 1), rank, round, out);
  }
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const final {
    add(towards(rank, -1), towards(rank, -1), round, out);
  }
  /// In every round each block has a segment in transit.
  double busiest_bytes(std::int64_t) const final { return sizes().largest(); }

 protected:
  /// Returns the rank `steps` hops away in the direction of sending.
  virtual Rank towards(Rank rank, Rank steps) const = 0;
  virtual void add(Rank peer, Rank sender, std::int64_t round, std::vector<BlockParcel>& out) const = 0;
};

class GlooAllReduce final : public GlooRing {
 public:
  /// Block r·pieces + i is segment i of the part that rank r has summed after the first half. The last segments of a
  /// part may be missing.
  GlooAllReduce(Rank ranks, BlockSizes sizes, std::int64_t pieces)
      : GlooRing(ranks, std::move(sizes)), pieces_(pieces) {}

  std::int64_t count() const override { return 2 * half(); }
  Pace pace() const override { return {kInFlight, Pace::Handshake::rendezvous, half(), kGlooThreads}; }

 private:
  std::int64_t half() const { return ranks() * pieces_ - kInFlight; }
  Rank towards(Rank rank, Rank steps) const override { return wrap(rank - steps); }

  void add(Rank peer, Rank sender, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const bool reduce = round < half();
    const std::int64_t block = ((sender + (reduce ? 1 : 0)) * pieces_ + round % half()) % (ranks() * pieces_);
    if (block < sizes().count()) out.push_back({peer, block, 1, reduce});
  }

  std::int64_t pieces_;  ///< segments per block
};

class GlooAllGather final : public GlooRing {
 public:
  /// Blocks 2r and 2r + 1 are the data of rank r.
  using GlooRing::GlooRing;

  std::int64_t count() const override { return 2 * (std::int64_t{ranks()} - 1); }
  Pace pace() const override { return {kInFlight, Pace::Handshake::rendezvous_after_sending, 0, kGlooThreads}; }
  Rank origin(std::int64_t block) const override { return static_cast<Rank>(block / 2); }

 private:
  Rank towards(Rank rank, Rank steps) const override { return wrap(rank + steps); }

  void add(Rank peer, Rank sender, std::int64_t round, std::vector<BlockParcel>& out) const override {
    out.push_back({peer, 2 * std::int64_t{wrap((sender - round / 2) % ranks())} + round % 2, 1, false});
  }
};

}  // namespace

std::unique_ptr<BlockRounds> gloo_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  const double bytes = request.bytes.front();
  const double least = static_cast<double>(kInFlight) * n;
  if (bytes <= least * kSegment) {
    return std::make_unique<GlooAllReduce>(n, BlockSizes(kInFlight * n, bytes / least), kInFlight);
  }
  std::vector<double> sizes(static_cast<std::size_t>(std::ceil(bytes / kSegment)), kSegment);
  sizes.back() = bytes - kSegment * static_cast<double>(sizes.size() - 1);
  return std::make_unique<GlooAllReduce>(n, BlockSizes(sizes), (static_cast<std::int64_t>(sizes.size()) + n - 1) / n);
}

std::unique_ptr<BlockRounds> gloo_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  const BlockSizes blocks = one_block_per_rank(request, n);
  if (blocks.equal()) return std::make_unique<GlooAllGather>(n, BlockSizes(std::int64_t{2} * n, blocks.largest() / 2));
  std::vector<double> sizes;
  sizes.reserve(2 * static_cast<std::size_t>(n));
  for (Rank rank = 0; rank < n; ++rank) sizes.insert(sizes.end(), 2, blocks.run(rank, 1) / 2);
  return std::make_unique<GlooAllGather>(n, BlockSizes(sizes));
}

}  // namespace dadsim::collectives
