// Neighbour exchange: every rank sends its block along all its outgoing edges of a graph at once (MPI-3's neighbourhood
// collectives; gossip and decentralised training).
#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class NeighbourExchange final : public BlockRounds {
 public:
  NeighbourExchange(Rank ranks, BlockSizes sizes, std::vector<std::vector<Rank>> to)
      : BlockRounds(ranks, std::move(sizes)), to_(std::move(to)), from_(to_.size()) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      for (const Rank peer : to_[static_cast<std::size_t>(rank)]) {
        from_[static_cast<std::size_t>(peer)].push_back(rank);
        any_ = true;
      }
    }
  }

  std::int64_t count() const override { return any_ ? 1 : 0; }

  void sent(Rank rank, std::int64_t, std::vector<BlockParcel>& out) const override {
    for (const Rank peer : to_[static_cast<std::size_t>(rank)]) out.push_back({peer, rank, 1, false});
  }
  void received(Rank rank, std::int64_t, std::vector<BlockParcel>& out) const override {
    for (const Rank peer : from_[static_cast<std::size_t>(rank)]) out.push_back({peer, peer, 1, false});
  }

 private:
  // Receivers and senders of each rank of the graph.
  std::vector<std::vector<Rank>> to_, from_;
  bool any_ = false;
};

}  // namespace

std::unique_ptr<BlockRounds> direct_neighbour_exchange(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<NeighbourExchange>(n, one_block_per_rank(request, n), request.neighbours);
}

}  // namespace dadsim::collectives
