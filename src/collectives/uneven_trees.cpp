// All-reduce through trees between nodes that differ in size, in segments: NCCL 2.4 (src/graph/trees.cc). Each channel
// has a chain through the ranks of every node. The head of the chain is in two binary trees between the nodes; each
// tree carries half of the channel's bytes. There are as many channels as the smallest node has ranks (over sockets:
// adapters), because NCCL keeps only the channels that its search found in every node (src/init.cc). Each channel
// leaves a node through a different rank.
//
// A segment is summed along the chains, then up the trees; the sum travels down the trees and along the chains. A stage
// is a round; each segment follows the previous one a round later. Shorter chains begin later, so that all reach their
// heads together.
#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/double_binary_tree.hpp"
#include "collectives/layouts.hpp"
#include "collectives/libraries.hpp"
#include "collectives/segments.hpp"

namespace dadsim::collectives {
namespace {

using Members = std::vector<std::vector<Rank>>;  // ranks of each node

Members members_of(const RankLayout& layout) {
  Members members(static_cast<std::size_t>(layout.nodes()));
  for (Rank rank = 0; rank < layout.ranks(); ++rank) {
    members[static_cast<std::size_t>(layout.node_of[static_cast<std::size_t>(rank)])].push_back(rank);
  }
  return members;
}

/// Rounds of a segment, and the bytes that a port and an adapter carry in each direction per byte of the vector.
struct UnevenPlan {
  UnevenPlan(const Members& members, const RankLayout& layout) {
    std::size_t least = members.front().size();
    std::size_t most = 0;
    for (const std::vector<Rank>& node : members) {
      least = std::min(least, node.size());
      most = std::max(most, node.size());
    }
    const auto fewest = static_cast<Rank>(least);
    channels = layout.over_sockets ? std::clamp<Rank>(layout.rails, 1, fewest) : fewest;
    nodes = static_cast<Rank>(members.size());
    chain = static_cast<std::int64_t>(most) - 1;
    depth = ceil_log2(nodes);
    const double turns = layout.rails > 0 ? std::max(1.0, static_cast<double>(channels) / layout.rails) : 1;
    adapter_bytes = most_neighbours(nodes) / 2.0 * turns / channels;
  }

  std::int64_t stages() const { return 2 * chain + 2 * depth; }

  Rank nodes = 0, channels = 0;
  std::int64_t chain = 0;  ///< edges of the longest chain
  int depth = 0;           ///< depth of the trees
  double port_bytes = 2;   ///< per byte of the vector: up the chain, and down the chain
  double adapter_bytes = 0;
};

class UnevenTrees final : public BlockRounds {
 public:
  /// Block ((s·C + c)·2 + t): the half of segment s of channel c that goes through tree t.
  UnevenTrees(Members members, const UnevenPlan& plan, Rank ranks, double bytes, std::int64_t segments)
      : BlockRounds(
            ranks, BlockSizes(segments * plan.channels * 2, bytes / static_cast<double>(segments * plan.channels * 2))),
        members_(std::move(members)),
        places_(static_cast<std::size_t>(ranks)),
        plan_(plan),
        segments_(segments) {
    for (std::size_t node = 0; node < members_.size(); ++node) {
      for (std::size_t local = 0; local < members_[node].size(); ++local) {
        places_[static_cast<std::size_t>(members_[node][local])] = {static_cast<Rank>(node), static_cast<Rank>(local)};
      }
    }
  }

  std::int64_t count() const override { return segments_ + plan_.stages() - 1; }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    add(rank, round, true, out);
  }
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    add(rank, round, false, out);
  }

  std::vector<RoundPhase> phases() const override {
    const std::int64_t fill = plan_.stages() - 1;
    if (segments_ <= fill) return BlockRounds::phases();
    return {{0, fill, fill == 1}, {fill, segments_ - fill, true}, {segments_, fill, fill == 1}};
  }

 private:
  Rank size(Rank node) const { return static_cast<Rank>(members_[static_cast<std::size_t>(node)].size()); }
  /// Returns the rank at a place of a channel's chain through a node; place 0 is the head.
  Rank at(Rank node, Rank channel, Rank place) const {
    const Rank local = (channel * size(node) / plan_.channels + place) % size(node);
    return members_[static_cast<std::size_t>(node)][static_cast<std::size_t>(local)];
  }

  void add(Rank rank, std::int64_t round, bool sends, std::vector<BlockParcel>& out) const {
    const std::size_t start = out.size();
    const auto [node, local] = places_[static_cast<std::size_t>(rank)];
    for (Rank channel = 0; channel < plan_.channels; ++channel) {
      const Rank place = (local + size(node) - channel * size(node) / plan_.channels) % size(node);
      along_chain(node, channel, place, round, sends, out);
      if (place == 0) along_trees(node, channel, round, sends, out);
    }
    // Sorts, so that both ends of a message have the same order.
    std::ranges::sort(std::span(out).subspan(start), {}, [](const BlockParcel& parcel) {
      return std::tuple(parcel.peer, parcel.channel, parcel.first, parcel.reduce);
    });
  }

  /// Returns whether a segment is at the stage in the round.
  bool has_segment(std::int64_t round, std::int64_t stage) const { return round >= stage && round - stage < segments_; }
  std::int64_t first_block(std::int64_t segment, Rank channel) const {
    return (segment * plan_.channels + channel) * 2;
  }

  void along_chain(Rank node, Rank channel, Rank place, std::int64_t round, bool sends,
                   std::vector<BlockParcel>& out) const {
    const auto add_if = [&](Rank peer, std::int64_t stage, bool reduce) {
      if (peer < 0 || peer >= size(node) || !has_segment(round, stage)) return;
      out.push_back({at(node, channel, peer), first_block(round - stage, channel), 2, reduce});
    };
    // Place p sends its sum at stage chain − p, and forwards the result one stage after its arrival.
    const std::int64_t down = plan_.chain + 2 * plan_.depth;
    add_if(sends ? place - 1 : place + 1, plan_.chain - (sends ? place : place + 1), true);
    add_if(sends ? place + 1 : place - 1, down + (sends ? place : place - 1), false);
  }

  void along_trees(Rank node, Rank channel, std::int64_t round, bool sends, std::vector<BlockParcel>& out) const {
    for (int tree = 0; tree < 2; ++tree) {
      const TreePlace place = place_in_tree(rank_to_place(node, tree, plan_.nodes), plan_.nodes);
      const auto add_if = [&](Rank peer, std::int64_t level, bool reduce) {
        const std::int64_t stage = plan_.chain + level;
        if (peer < 0 || !has_segment(round, stage)) return;
        const Rank head = at(place_to_rank(peer, tree, plan_.nodes), channel, 0);
        out.push_back({head, first_block(round - stage, channel) + tree, 1, reduce, 1, tree});
      };
      add_if(place.parent, sends ? plan_.depth - place.depth : plan_.depth + place.depth - 1, sends);
      for (const Rank child : place.children) {
        add_if(child, sends ? plan_.depth + place.depth : plan_.depth - place.depth - 1, !sends);
      }
    }
  }

  Members members_;
  std::vector<std::pair<Rank, Rank>> places_;  ///< node of each rank, and its place in the node
  UnevenPlan plan_;
  std::int64_t segments_;
};

/// Returns the number S of segments for which (stages + S − 1) rounds on the narrowest line take least time.
std::int64_t segments_of(const CollectiveRequest& request, const RankLayout& layout, const UnevenPlan& plan,
                         Protocol protocol) {
  const double bytes = request.bytes.front();
  if (request.segment_bytes > 0) return segment_count(bytes, request.segment_bytes, 0, layout.between);
  const bool inside_is_narrower =
      layout.inside.transfer(plan.port_bytes, protocol) > layout.between.transfer(plan.adapter_bytes, protocol);
  RankLayout::Channel channel = inside_is_narrower ? layout.inside : layout.between;
  channel.latency = channel.seconds(0, protocol);
  return segment_count((inside_is_narrower ? plan.port_bytes : plan.adapter_bytes) * bytes, 0,
                       static_cast<double>(plan.stages() - 1), channel);
}

}  // namespace

bool has_uneven_nodes(const RankLayout& layout) {
  return layout.nodes() > 1 && !layout.is_one_rank_per_node() && !layout.is_hierarchical();
}

std::unique_ptr<BlockRounds> uneven_tree_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  const Protocol protocol =
      request.protocol == Protocol::by_message ? choose_protocol(request, "tree", layout) : request.protocol;
  const Members members = members_of(layout);
  const UnevenPlan plan(members, layout);
  const double bytes = request.bytes.front();
  auto rounds =
      std::make_unique<UnevenTrees>(members, plan, layout.ranks(), bytes, segments_of(request, layout, plan, protocol));
  rounds->set_protocol(protocol);
  if (layout.of_gpus()) {
    const double whole = std::max(layout.inside.transfer(plan.port_bytes * bytes, protocol),
                                  layout.between.transfer(plan.adapter_bytes * bytes, protocol));
    rounds->set_lost_seconds((1 / tree_share_of_bandwidth(protocol, bytes) - 1) * whole);
    rounds->set_start_seconds(2 * plan.depth * layout.tree_latency + rounds->lost_seconds());
  }
  return rounds;
}

}  // namespace dadsim::collectives
