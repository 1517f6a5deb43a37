// Chain broadcast: every rank forwards the vector to the next, in segments, so that all links are busy at once (also
// called pipeline; Open MPI's coll/base). N − 2 + S rounds of b/S.

#include "collectives/layouts.hpp"
#include "collectives/segments.hpp"

namespace dadsim::collectives {
namespace {

class Chain final : public BlockRounds {
 public:
  Chain(Rank ranks, Rank root, double bytes, std::int64_t segments)
      : BlockRounds(ranks, BlockSizes(segments, bytes / static_cast<double>(segments))), root_(root) {}

  std::int64_t count() const override { return ranks() - 2 + blocks(); }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const Rank place = wrap(rank - root_);
    if (place < ranks() - 1) add(wrap(rank + 1), round - place, out);
  }

  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const Rank place = wrap(rank - root_);
    if (place > 0) add(wrap(rank - 1), round - (place - 1), out);
  }

  std::vector<RoundPhase> phases() const override {
    const std::int64_t fill = ranks() - 2;  // rounds until the last rank gets its first segment
    if (blocks() <= fill) return BlockRounds::phases();
    if (fill == 0) return {{0, count(), true}};
    return {{0, fill, fill == 1}, {fill, blocks() - fill, true}, {blocks(), fill, fill == 1}};
  }

  /// In every round at least one segment moves, and a rank sends at most one.
  double busiest_bytes(std::int64_t) const override { return sizes().largest(); }

 private:
  void add(Rank peer, std::int64_t segment, std::vector<BlockParcel>& out) const {
    if (segment >= 0 && segment < blocks()) out.push_back({peer, segment, 1, false});
  }

  Rank root_;
};

}  // namespace

std::unique_ptr<BlockRounds> chain_broadcast(const CollectiveRequest& request, const RankLayout& layout) {
  const double bytes = request.bytes.front();
  return std::make_unique<Chain>(
      layout.ranks(), request.root, bytes,
      segment_count(bytes, request.segment_bytes, layout.ranks() - 2, slowest_channel(layout)));
}

}  // namespace dadsim::collectives
