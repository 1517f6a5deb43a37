// Ring: each rank sends to the next rank only, one block per round. All-reduce: P. Patarasuk, X. Yuan, Bandwidth
// optimal all-reduce algorithms for clusters of workstations, J. Parallel Distrib. Comput. 69 (2009): a reduce-scatter
// of N − 1 rounds, then an all-gather of N − 1 rounds, blocks of b/N.
//
// Nodes of several GPUs have as many parallel rings as ranks in a node, like the channels of NCCL and RCCL
// (src/graph/search.cc, src/graph/rings.cc). Each ring has a share of every block, and leaves a node through a
// different rank's adapter. The rings are lanes, and do not wait for each other. `one-ring` is a single ring through
// all ranks.
#include <algorithm>
#include <cmath>

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

/// Order in which each ring visits the ranks of a node.
using Orders = std::vector<std::vector<Rank>>;

/// Returns one order per ring: c, c + 1, c − 1, c + 2, … Each ring begins and ends at a different rank, and every
/// ordered pair of ranks is adjacent in exactly one ring (R. Williams, Experimental designs balanced for the estimation
/// of residual effects of treatments, Aust. J. Sci. Res. A 2 (1949)). For odd numbers of ranks such orders do not
/// exist; the order is then cyclic.
Orders paths(Rank ranks) {
  Orders orders(static_cast<std::size_t>(ranks));
  for (Rank lane = 0; lane < ranks; ++lane) {
    std::vector<Rank>& order = orders[static_cast<std::size_t>(lane)];
    for (Rank place = 0; place < ranks; ++place) {
      const Rank zigzag = place % 2 == 1 ? (place + 1) / 2 : -(place / 2);
      order.push_back((lane + (ranks % 2 == 0 ? zigzag + ranks : place)) % ranks);
    }
  }
  return orders;
}

/// Returns closed rings on the links of a mesh. Eight ranks, and prime numbers of ranks, use each link once (for eight,
/// a decomposition of the complete graph into directed Hamiltonian cycles, found by search). Four ranks use each link
/// twice. Other numbers use the closed orders of paths(), which use some links twice.
Orders cycles(Rank ranks) {
  if (ranks == 8) {
    return {{0, 5, 6, 3, 7, 2, 1, 4}, {0, 4, 2, 3, 5, 7, 1, 6}, {0, 3, 2, 7, 5, 4, 6, 1}, {0, 7, 6, 2, 4, 1, 5, 3},
            {0, 6, 7, 4, 3, 1, 2, 5}, {0, 2, 6, 5, 1, 3, 4, 7}, {0, 1, 7, 3, 6, 4, 5, 2}};
  }
  if (ranks == 4) return {{0, 1, 2, 3}, {0, 3, 2, 1}, {0, 1, 3, 2}, {0, 2, 3, 1}, {0, 2, 1, 3}, {0, 3, 1, 2}};
  bool prime = true;
  for (Rank factor = 2; factor * factor <= ranks; ++factor) prime = prime && ranks % factor != 0;
  if (!prime) return paths(ranks);
  Orders orders(static_cast<std::size_t>(ranks) - 1);
  for (Rank stride = 1; stride < ranks; ++stride) {
    for (Rank place = 0; place < ranks; ++place) {
      orders[static_cast<std::size_t>(stride) - 1].push_back(place * stride % ranks);
    }
  }
  return orders;
}

/// Rings through nodes of `per_node` ranks each, numbered node by node.
class Rings {
 public:
  Rings(Rank ranks, Rank per_node, Orders orders, double inside = 1, double between = 1)
      : ranks_(ranks), per_node_(per_node), orders_(std::move(orders)), inside_(inside), between_(between) {
    for (const std::vector<Rank>& order : orders_) {
      std::vector<Rank>& places = places_.emplace_back(order.size());
      for (std::size_t place = 0; place < order.size(); ++place) {
        places[static_cast<std::size_t>(order[place])] = static_cast<Rank>(place);
      }
    }
  }

  /// Makes rings through nodes of unequal size; an order includes all ranks. `node_of`: node of each rank.
  Rings(Orders orders, std::vector<std::int32_t> node_of, double inside, double between)
      : Rings(static_cast<Rank>(node_of.size()), static_cast<Rank>(node_of.size()), std::move(orders), inside,
              between) {
    node_of_ = std::move(node_of);
  }

  Rank lanes() const { return static_cast<Rank>(orders_.size()); }
  /// Returns a ring's share of the line between two ranks: of a port inside a node, of a link of a mesh, or of an
  /// adapter.
  double share(Rank from, Rank to) const { return node(from) == node(to) ? inside_ : between_; }
  /// Returns the rank at a place of a ring (modulo the number of ranks, for places ≥ −ranks). place_of() is the
  /// inverse.
  Rank at(Rank lane, std::int64_t place) const {
    const auto on_ring = static_cast<Rank>((place + ranks_) % ranks_);
    const Rank node = on_ring / per_node_;
    return node * per_node_ + orders_[static_cast<std::size_t>(lane)][static_cast<std::size_t>(on_ring % per_node_)];
  }
  Rank place_of(Rank lane, Rank rank) const {
    return rank / per_node_ * per_node_ +
           places_[static_cast<std::size_t>(lane)][static_cast<std::size_t>(rank % per_node_)];
  }

 private:
  Rank node(Rank rank) const { return node_of_.empty() ? rank / per_node_ : node_of_[static_cast<std::size_t>(rank)]; }

  Rank ranks_, per_node_;
  Orders orders_;
  Orders places_;
  std::vector<std::int32_t> node_of_;  ///< empty: nodes of equal size
  double inside_, between_;            ///< share of a line inside a node, and between nodes
};

/// Returns one ring in the order of the ranks.
Rings one_ring(Rank ranks) { return {ranks, 1, {{0}}}; }

/// Returns the orders of a node's rings. Over sockets there is one ring (one connection) per adapter. Over RDMA there
/// is one ring per rank of a node; with fewer adapters, rings share them.
Orders lanes_of(const RankLayout& layout, Rank per_node) {
  Orders orders = paths(per_node);
  if (!layout.over_sockets) return orders;
  Orders kept;
  const Rank adapters = std::clamp<Rank>(layout.rails, 1, per_node);
  for (Rank adapter = 0; adapter < adapters; ++adapter) {
    kept.push_back(orders[static_cast<std::size_t>(adapter * per_node / adapters)]);
  }
  return kept;
}

/// Returns the number of ranks of each node; empty if ranks are not numbered node by node.
std::vector<Rank> ranks_of_nodes(const RankLayout& layout) {
  std::vector<Rank> sizes;
  for (const std::int32_t node : layout.node_of) {
    if (node == static_cast<std::int32_t>(sizes.size())) sizes.push_back(0);
    if (node + 1 != static_cast<std::int32_t>(sizes.size())) return {};
    ++sizes.back();
  }
  return sizes;
}

/// Makes rings through nodes of unequal size: as many as the smallest node has ranks (over sockets: adapters), because
/// NCCL keeps only the channels that its search found in every node (src/init.cc).
Rings uneven_rings(const RankLayout& layout, const std::vector<Rank>& sizes) {
  const Rank least = *std::ranges::min_element(sizes);
  const Rank lanes = layout.over_sockets ? std::clamp<Rank>(layout.rails, 1, least) : least;
  Orders orders(static_cast<std::size_t>(lanes));
  Rank first = 0;
  for (const Rank size : sizes) {
    const Orders own = paths(size);
    for (Rank lane = 0; lane < lanes; ++lane) {
      for (const Rank rank : own[static_cast<std::size_t>(lane * size / lanes)]) {
        orders[static_cast<std::size_t>(lane)].push_back(first + rank);
      }
    }
    first += size;
  }
  const double turns = layout.rails > 0 ? std::max(1.0, static_cast<double>(lanes) / layout.rails) : 1;
  const double inside = layout.meshed_nodes || layout.over_sockets ? 1 : 1.0 / std::max<Rank>(1, lanes - 1);
  return {std::move(orders), layout.node_of, inside, 1 / turns};
}

Rings rings_on(const RankLayout& layout) {
  const Rank n = layout.ranks();
  const Rank each = layout.ranks_per_node();
  if (layout.of_gpus() && layout.is_hierarchical()) {
    Orders orders = lanes_of(layout, each);
    const auto lanes = static_cast<double>(orders.size());
    const double turns = layout.rails > 0 ? std::max(1.0, lanes / layout.rails) : 1;
    const double inside = layout.meshed_nodes || layout.over_sockets ? 1 : 1.0 / (each - 1);
    return {n, each, std::move(orders), inside, 1 / turns};
  }
  if (layout.meshed_nodes && each == n && n > 1) {
    Orders orders = cycles(n);
    const double uses = std::max(1.0, static_cast<double>(orders.size()) / (n - 1));
    return {n, n, std::move(orders), 1 / uses};
  }
  const std::vector<Rank> sizes = layout.of_gpus() ? ranks_of_nodes(layout) : std::vector<Rank>();
  if (sizes.size() > 1 && *std::ranges::min_element(sizes) > 1) return uneven_rings(layout, sizes);
  return one_ring(n);
}

class Ring final : public LaneRounds {
 public:
  /// Block c·N + r is lane c's part of the block of rank r. In round k, the rank at place p of its ring sends the block
  /// of the rank at place p − shift − k. In the first `reduced` rounds the receiver adds the block to its own.
  Ring(Rank ranks, Rings rings, const BlockSizes& whole, std::int64_t count, std::int64_t reduced, Rank shift)
      : LaneRounds(ranks, in_lanes(whole, rings.lanes())),
        rings_(std::move(rings)),
        count_(count),
        reduced_(reduced),
        shift_(shift) {}

  std::int64_t count() const override { return count_; }
  Rank lanes() const override { return rings_.lanes(); }

  void sent_in_lane(Rank rank, Rank lane, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const std::int64_t place = rings_.place_of(lane, rank);
    out.push_back({rings_.at(lane, place + 1), block(lane, place, round), 1, round < reduced_, 1, lane});
  }
  void received_in_lane(Rank rank, Rank lane, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const std::int64_t before = rings_.place_of(lane, rank) - 1;
    out.push_back({rings_.at(lane, before), block(lane, before, round), 1, round < reduced_, 1, lane});
  }

  std::vector<RoundPhase> phases() const override { return {{0, count_, sizes().equal() || count_ == 1}}; }

  /// In every round each block moves, and each rank sends one block per lane.
  double busiest_bytes(std::int64_t round) const override {
    return lanes() == 1 || sizes().equal() ? lanes() * sizes().largest() : BlockRounds::busiest_bytes(round);
  }

  double lane_share(Rank from, Rank to) const override { return rings_.share(from, to); }

  Rank origin(std::int64_t block) const override { return static_cast<Rank>(block % ranks()); }

 private:
  static BlockSizes in_lanes(const BlockSizes& whole, Rank lanes) {
    if (whole.equal()) return {whole.count() * lanes, whole.largest() / lanes};
    std::vector<double> bytes;
    for (Rank lane = 0; lane < lanes; ++lane) {
      for (std::int64_t i = 0; i < whole.count(); ++i) bytes.push_back(whole.run(i, 1) / lanes);
    }
    return BlockSizes(bytes);
  }

  std::int64_t block(Rank lane, std::int64_t sender, std::int64_t round) const {
    const std::int64_t place = (sender + ranks() - shift_ - round % ranks()) % ranks();
    return std::int64_t{lane} * ranks() + rings_.at(lane, place);
  }

  Rings rings_;
  std::int64_t count_, reduced_;
  Rank shift_;
};

/// Broadcast along the rings, from the root to the rank before it, or reduce, from the rank after the root to the root.
/// Each ring has its share of the vector, cut into segments that follow each other. Block c·S + s is segment s of ring
/// c.
class RingPipeline final : public LaneRounds {
 public:
  RingPipeline(Rank ranks, Rings rings, Rank root, bool reduces, double bytes, std::int64_t segments)
      : LaneRounds(ranks, BlockSizes(segments * rings.lanes(), bytes / static_cast<double>(segments * rings.lanes()))),
        rings_(std::move(rings)),
        root_(root),
        reduces_(reduces),
        segments_(segments) {}

  std::int64_t count() const override { return ranks() - 2 + segments_; }
  Rank lanes() const override { return rings_.lanes(); }

  void sent_in_lane(Rank rank, Rank lane, std::int64_t round, std::vector<BlockParcel>& out) const override {
    add(lane, way(lane, rank), rings_.at(lane, rings_.place_of(lane, rank) + 1), round, out);
  }
  void received_in_lane(Rank rank, Rank lane, std::int64_t round, std::vector<BlockParcel>& out) const override {
    add(lane, way(lane, rank) - 1, rings_.at(lane, rings_.place_of(lane, rank) - 1), round, out);
  }

  std::vector<RoundPhase> phases() const override {
    const std::int64_t fill = ranks() - 2;  // rounds until the last rank gets its first segment
    if (segments_ <= fill) return BlockRounds::phases();
    if (fill == 0) return {{0, count(), true}};
    return {{0, fill, fill == 1}, {fill, segments_ - fill, true}, {segments_, fill, fill == 1}};
  }

  double lane_share(Rank from, Rank to) const override { return rings_.share(from, to); }

 private:
  /// Returns the number of ranks that forward the bytes before `rank` in the ring.
  std::int64_t way(Rank lane, Rank rank) const {
    const std::int64_t behind = rings_.place_of(lane, rank) - rings_.place_of(lane, root_) - (reduces_ ? 1 : 0);
    return (behind + 2 * ranks()) % ranks();
  }
  /// Appends the parcel that the rank `way` hops after the first rank sends to the next.
  void add(Rank lane, std::int64_t way, Rank peer, std::int64_t round, std::vector<BlockParcel>& out) const {
    const std::int64_t segment = round - way;
    if (way < 0 || way >= ranks() - 1 || segment < 0 || segment >= segments_) return;
    out.push_back({peer, lane * segments_ + segment, 1, reduces_, 1, lane});
  }

  Rings rings_;
  Rank root_;
  bool reduces_;
  std::int64_t segments_;
};

/// Data bytes in a step of a channel's buffer (NCCL, src/include/comm.h). Simple has 4 MiB in 8 steps. LL has 512 KiB
/// in 8 steps, half of them flags.
constexpr double kSimpleStep = 512 * 1024;
constexpr double kLlStep = 32 * 1024;
constexpr std::int64_t kMostSegments = 1024;

std::unique_ptr<BlockRounds> pipeline(const CollectiveRequest& request, const RankLayout& layout, bool reduces) {
  Rings rings = rings_on(layout);
  const double bytes = request.bytes.front();
  const Protocol protocol =
      request.protocol == Protocol::by_message ? choose_protocol(request, "ring", layout) : request.protocol;
  const double step = request.segment_bytes > 0  ? request.segment_bytes
                      : protocol == Protocol::ll ? kLlStep
                                                 : kSimpleStep;
  const double segments = std::ceil(bytes / rings.lanes() / step);
  return std::make_unique<RingPipeline>(
      layout.ranks(), std::move(rings), request.root, reduces, bytes,
      std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(segments, 1e9)), 1, kMostSegments));
}

std::unique_ptr<BlockRounds> all_reduce(const CollectiveRequest& request, Rings rings, Rank n) {
  return std::make_unique<Ring>(n, std::move(rings), BlockSizes(n, request.bytes.front() / n),
                                2 * (std::int64_t{n} - 1), n - 1, 0);
}

}  // namespace

Rank ring_lanes(const RankLayout& layout) { return rings_on(layout).lanes(); }

std::unique_ptr<BlockRounds> ring_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  return all_reduce(request, rings_on(layout), layout.ranks());
}

std::unique_ptr<BlockRounds> one_ring_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  return all_reduce(request, one_ring(layout.ranks()), layout.ranks());
}

std::unique_ptr<BlockRounds> ordered_ring_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return all_reduce(
      request, static_cast<Rank>(layout.ring_order.size()) == n ? Rings{n, n, {layout.ring_order}} : one_ring(n), n);
}

std::unique_ptr<BlockRounds> ring_reduce_scatter(const CollectiveRequest& request, const RankLayout& layout) {
  // Starts one block after the all-reduce, so that the last complete block at rank r is block r.
  const Rank n = layout.ranks();
  return std::make_unique<Ring>(n, rings_on(layout), BlockSizes(n, request.bytes.front() / n), n - 1, n - 1, 1);
}

std::unique_ptr<BlockRounds> ring_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<Ring>(n, rings_on(layout), one_block_per_rank(request, n), n - 1, 0, 0);
}

std::unique_ptr<BlockRounds> one_ring_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<Ring>(n, one_ring(n), one_block_per_rank(request, n), n - 1, 0, 0);
}

std::unique_ptr<BlockRounds> ring_broadcast(const CollectiveRequest& request, const RankLayout& layout) {
  return pipeline(request, layout, false);
}

std::unique_ptr<BlockRounds> ring_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  return pipeline(request, layout, true);
}

}  // namespace dadsim::collectives
