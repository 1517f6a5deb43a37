// Hierarchical: rings inside the nodes (fast) alternate with rings between them (slow). M nodes of L ranks; rank n·L +
// l is the l-th of node n. All-reduce: reduce-scatter inside; all-reduce of each shard between the ranks l of all
// nodes; all-gather inside. All-gather: between the nodes, then inside. Y. Ueno, R. Yokota, Exhaustive study of
// hierarchical AllReduce patterns for large messages between GPUs, CCGRID 2019; M. Cho et al., BlueConnect, IBM J. Res.
// Dev. 63 (2019).
#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

/// Block l·M + m is part m of shard l, so that a shard consists of consecutive blocks.
class Hierarchical final : public BlockRounds {
 public:
  Hierarchical(Rank nodes, Rank per_node, BlockSizes sizes, bool reduces)
      : BlockRounds(nodes * per_node, std::move(sizes)),
        nodes_(nodes),
        per_node_(per_node),
        scatter_(reduces ? per_node - 1 : 0),
        between_(reduces ? 2 * (nodes - 1) : nodes - 1),
        reduces_(reduces) {}

  std::int64_t count() const override { return scatter_ + between_ + per_node_ - 1; }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    out.push_back(parcel_of(rank, round));
    out.back().peer = is_between(round) ? at(node(rank) + 1, local(rank)) : at(node(rank), local(rank) + 1);
  }

  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const Rank from = is_between(round) ? at(node(rank) - 1, local(rank)) : at(node(rank), local(rank) - 1);
    out.push_back(parcel_of(from, round));
    out.back().peer = from;
  }

  std::vector<RoundPhase> phases() const override {
    std::vector<RoundPhase> result;
    std::int64_t first = 0;
    for (const std::int64_t rounds : {scatter_, between_, std::int64_t{per_node_} - 1}) {
      if (rounds > 0) result.push_back({first, rounds, sizes().equal() || rounds == 1});
      first += rounds;
    }
    return result;
  }

  Rank origin(std::int64_t block) const override {
    return at(static_cast<Rank>(block % nodes_), static_cast<Rank>(block / nodes_));
  }

 private:
  Rank node(Rank rank) const { return rank / per_node_; }
  Rank local(Rank rank) const { return rank % per_node_; }
  Rank at(Rank node, Rank local) const {
    return (node + nodes_) % nodes_ * per_node_ + (local + per_node_) % per_node_;
  }
  bool is_between(std::int64_t round) const { return round >= scatter_ && round < scatter_ + between_; }

  BlockParcel parcel_of(Rank sender, std::int64_t round) const {
    const Rank l = local(sender);
    const auto shard = [&](std::int64_t x) { return (x % per_node_ + per_node_) % per_node_ * nodes_; };
    if (round < scatter_) return {0, shard(l - round), nodes_, true};
    const Rank own = reduces_ ? l + 1 : l;  // shard of this rank after the reduce-scatter
    round -= scatter_;
    if (round < between_) {
      const std::int64_t part = ((node(sender) - round) % nodes_ + nodes_) % nodes_;
      return {0, shard(own) + part, 1, reduces_ && round < nodes_ - 1};
    }
    return {0, shard(own - (round - between_)), nodes_, false};
  }

  Rank nodes_, per_node_;
  std::int64_t scatter_, between_;  // rounds of each stage
  bool reduces_;
};

}  // namespace

std::unique_ptr<BlockRounds> hierarchical_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  const Rank each = layout.ranks_per_node();
  return std::make_unique<Hierarchical>(n / each, each, BlockSizes(n, request.bytes.front() / n), true);
}

std::unique_ptr<BlockRounds> hierarchical_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  const Rank each = layout.ranks_per_node();
  const Rank nodes = n / each;
  if (request.bytes.size() == 1) {
    return std::make_unique<Hierarchical>(nodes, each, BlockSizes(n, request.bytes.front()), false);
  }
  std::vector<double> bytes;  // block sizes, reordered from rank order to shard order
  bytes.reserve(request.bytes.size());
  for (Rank l = 0; l < each; ++l) {
    for (Rank m = 0; m < nodes; ++m) {
      const Rank rank = m * each + l;
      bytes.push_back(request.bytes[static_cast<std::size_t>(rank)]);
    }
  }
  return std::make_unique<Hierarchical>(nodes, each, BlockSizes(bytes), false);
}

}  // namespace dadsim::collectives
