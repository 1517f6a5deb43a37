// Binomial tree, as MPICH lays it out (Thakur, Rabenseifner, Gropp 2005). Places are ranks counted from the root. The
// parent of place v > 0 is v without its lowest set bit, and the subtree of v is the places from v to v + that bit − 1.
#include <algorithm>

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class Binomial final : public BlockRounds {
 public:
  enum class Way : std::uint8_t { up, down, up_and_down };

  /// With one block, the whole vector goes along every edge. With one block per rank, an edge carries the blocks of its
  /// subtree.
  Binomial(const CollectiveRequest& request, Rank ranks, BlockSizes sizes, Way way)
      : BlockRounds(ranks, std::move(sizes)), root_(request.root), way_(way), levels_(ceil_log2(ranks)) {}

  std::int64_t count() const override { return way_ == Way::up_and_down ? 2 * levels_ : levels_; }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    add(rank, is_up(round), round, out);
  }
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    add(rank, !is_up(round), round, out);
  }

 private:
  bool is_up(std::int64_t round) const { return way_ == Way::up || (way_ == Way::up_and_down && round < levels_); }

  /// Appends the message on the edge from `rank` to its parent (`at_child`) or to its child, if `round` uses the edge.
  /// Upwards, edges of length 1 come first; downwards, the longest edges come first.
  void add(Rank rank, bool at_child, std::int64_t round, std::vector<BlockParcel>& out) const {
    const bool up = is_up(round);
    const std::int64_t level = up ? round : (way_ == Way::up_and_down ? 2 * levels_ : levels_) - 1 - round;
    const std::int64_t edge = std::int64_t{1} << level;
    const std::int64_t place = wrap(rank - root_);
    const std::int64_t child = at_child ? place : place + edge;
    if (child % (2 * edge) != edge || child >= ranks()) return;
    const Rank peer = rank_of(at_child ? place - edge : child);
    if (blocks() == 1) {
      out.push_back({peer, 0, 1, up});
    } else {
      out.push_back({peer, rank_of(child), std::min(edge, ranks() - child), false});
    }
  }

  Rank rank_of(std::int64_t place) const { return wrap(place + root_); }

  Rank root_;
  Way way_;
  int levels_;
};

std::unique_ptr<BlockRounds> whole(const CollectiveRequest& request, const RankLayout& layout, Binomial::Way way) {
  return std::make_unique<Binomial>(request, layout.ranks(), BlockSizes(1, request.bytes.front()), way);
}

std::unique_ptr<BlockRounds> per_rank(const CollectiveRequest& request, const RankLayout& layout, Binomial::Way way) {
  return std::make_unique<Binomial>(request, layout.ranks(), one_block_per_rank(request, layout.ranks()), way);
}

}  // namespace

std::unique_ptr<BlockRounds> reduce_broadcast_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  return whole(request, layout, Binomial::Way::up_and_down);
}

std::unique_ptr<BlockRounds> binomial_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  return whole(request, layout, Binomial::Way::up);
}

std::unique_ptr<BlockRounds> binomial_broadcast(const CollectiveRequest& request, const RankLayout& layout) {
  return whole(request, layout, Binomial::Way::down);
}

std::unique_ptr<BlockRounds> binomial_gather(const CollectiveRequest& request, const RankLayout& layout) {
  return per_rank(request, layout, Binomial::Way::up);
}

std::unique_ptr<BlockRounds> binomial_scatter(const CollectiveRequest& request, const RankLayout& layout) {
  return per_rank(request, layout, Binomial::Way::down);
}

}  // namespace dadsim::collectives
