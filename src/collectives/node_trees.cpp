// All-reduce on nodes of several ranks, in segments. Ranks of a node sum, each for one shard. Ranks with the same shard
// then sum between the nodes. Last, each node's ranks distribute the result. Links inside and between nodes are all
// busy at once; each segment follows the previous one a round later.
//
//   tree       rings inside the nodes, two binary trees between them for each shard: NCCL 2.4 (src/graph/trees.cc).
//              NCCL has a chain through the GPUs of a node, with the same load per port, and two trees per channel.
//   nvls-tree  the node's switch sums and multicasts (nvls.cpp), trees between the nodes: NCCL 2.18
//   sharp      the fabric's switches sum and multicast between the nodes: InfiniBand SHARP (R. Graham et al., Scalable
//              hierarchical aggregation protocol, COMHPC 2016; NCCL's CollNet, with NVLS inside if available)
//
// A rank sends its vector once to a switch that sums, and receives the sum once. As in nvls.cpp, the port's bytes are
// represented by messages between all pairs, in two rounds; weights scale these messages to the bytes of the port.
#include "collectives/node_trees.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "collectives/double_binary_tree.hpp"
#include "collectives/layouts.hpp"
#include "collectives/nvls.hpp"

namespace dadsim::collectives {
namespace {

/// Returns the weight of messages between n ranks that represent a port. In each of two rounds, n − 1 messages of 1/n
/// of the vector carry half of the port's `share` of the vector.
double port_weight(double share, Rank n) { return 0.5 * share * n / (n - 1.0); }

class NodeTrees final : public BlockRounds {
 public:
  /// Block ((s·L + l)·P + p) is part p of shard l of segment s. P is 2 for trees, and the number of nodes for a fabric
  /// that sums.
  NodeTrees(const NodePlan& plan, double bytes, std::int64_t segments)
      : BlockRounds(plan.nodes * plan.per_node,
                    BlockSizes(segments * plan.per_node * parts_of(plan),
                               bytes / static_cast<double>(segments * plan.per_node * parts_of(plan)))),
        plan_(plan),
        parts_(parts_of(plan)),
        segments_(segments),
        within_(plan.stages_within()),
        between_(plan.stages_between()),
        stages_(2 * within_ + between_),
        stride_(plan.in_flight),
        depth_(ceil_log2(plan.nodes)) {
    set_protocol(plan.protocol);
    if (plan_.between == BetweenNodes::trees) know_messages();
  }

  std::int64_t count() const override { return segments_ + stride_ * (stages_ - 1); }
  Pace pace() const override { return {.in_flight = stride_}; }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    add(rank, round, true, out);
  }
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    add(rank, round, false, out);
  }
  void sends(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override {
    if (plan_.between != BetweenNodes::trees) return BlockRounds::sends(rank, round, out);
    messages(rank, round, true, false, out);
  }
  void receives(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override {
    if (plan_.between != BetweenNodes::trees) return BlockRounds::receives(rank, round, out);
    messages(rank, round, false, false, out);
  }
  void lane_sends(Rank rank, Rank lane, std::int64_t round, std::vector<Transfer>& out) const override {
    if (plan_.between != BetweenNodes::trees) return BlockRounds::lane_sends(rank, lane, round, out);
    messages(rank, round, true, true, out);
  }
  void lane_receives(Rank rank, Rank lane, std::int64_t round, std::vector<Transfer>& out) const override {
    if (plan_.between != BetweenNodes::trees) return BlockRounds::lane_receives(rank, lane, round, out);
    messages(rank, round, false, true, out);
  }

  std::vector<RoundPhase> phases() const override {
    const std::int64_t fill = stride_ * (stages_ - 1);
    if (fill == 0) return {{0, count(), true}};
    if (segments_ <= fill) return BlockRounds::phases();
    return {{0, fill, fill == 1}, {fill, segments_ - fill, true}, {segments_, fill, fill == 1}};
  }

 private:
  static std::int64_t parts_of(const NodePlan& plan) {
    return plan.between == BetweenNodes::fabric ? std::max<Rank>(plan.nodes, 1) : 2;
  }
  Rank node(Rank rank) const { return rank / plan_.per_node; }
  Rank local(Rank rank) const { return rank % plan_.per_node; }
  Rank at(Rank node, Rank local) const { return node * plan_.per_node + (local + plan_.per_node) % plan_.per_node; }
  std::int64_t shard(std::int64_t segment, std::int64_t local) const {
    const std::int64_t l = (local % plan_.per_node + plan_.per_node) % plan_.per_node;
    return (segment * plan_.per_node + l) * parts_;
  }
  /// Returns the shard that a rank sums between the nodes; a ring's reduce-scatter leaves it the next rank's shard.
  Rank own(Rank local) const { return plan_.within == WithinNode::rings && within_ > 0 ? local + 1 : local; }

  /// Appends the parcels that `rank` sends or receives in `round`, earlier segments first.
  void add(Rank rank, std::int64_t round, bool sends, std::vector<BlockParcel>& out) const {
    const std::size_t start = out.size();
    for_stages(round, within_ + between_, stages_, [&](std::int64_t segment, std::int64_t stage) {
      inside(rank, segment, stage - within_ - between_, false, sends, out);
    });
    if (plan_.between == BetweenNodes::fabric) {
      for_stages(round, within_, within_ + between_, [&](std::int64_t segment, std::int64_t stage) {
        over_fabric(rank, segment, stage - within_, sends, out);
      });
    } else if (between_ > 0) {
      along_trees(rank, round, sends, out);
    }
    for_stages(round, 0, within_,
               [&](std::int64_t segment, std::int64_t stage) { inside(rank, segment, stage, true, sends, out); });
    put_in_order(std::span(out).subspan(start), [](const BlockParcel& a, const BlockParcel& b) {
      return a.peer < b.peer || (a.peer == b.peer && a.channel < b.channel);
    });
  }

  /// Sorts stably. Few elements are inserted one by one, because std::stable_sort allocates memory, which would
  /// dominate the time.
  template <class Before>
  static void put_in_order(std::span<BlockParcel> parcels, const Before& before) {
    constexpr std::size_t kFew = 48;
    if (parcels.size() > kFew) return std::stable_sort(parcels.begin(), parcels.end(), before);
    for (auto next = parcels.begin(); next != parcels.end(); ++next) {
      std::rotate(std::upper_bound(parcels.begin(), next, *next, before), next, next + 1);
    }
  }

  /// Calls `visit(segment, stage)` for the segments that are at stages in [begin, end) in the round.
  template <class Visit>
  void for_stages(std::int64_t round, std::int64_t begin, std::int64_t end, const Visit& visit) const {
    for (std::int64_t stage = end - 1; stage >= begin; --stage) {
      const std::int64_t segment = round - stride_ * stage;
      if (segment >= 0 && segment < segments_) visit(segment, stage);
    }
  }

  void inside(Rank rank, std::int64_t segment, std::int64_t stage, bool reduce, bool sends,
              std::vector<BlockParcel>& out) const {
    const Rank l = local(rank);
    if (plan_.within == WithinNode::rings) {
      const Rank sender = sends ? l : l - 1;
      const std::int64_t block = reduce ? sender - stage : own(sender) - stage;
      out.push_back({at(node(rank), sends ? l + 1 : l - 1), shard(segment, block), parts_, reduce});
      return;
    }
    const Rank n = plan_.per_node;
    const double weight = port_weight((1 + 1.0 / n) / nvls_tree_efficiency(), n);
    for (Rank step = 1; step < n; ++step) {
      const Rank peer = (sends ? l + step : l - step + n) % n;
      const Rank in_charge = reduce == sends ? peer : l;  // the receiver in a sum, the sender in a copy
      out.push_back({at(node(rank), peer), shard(segment, in_charge), parts_, reduce, weight});
    }
  }

  void over_fabric(Rank rank, std::int64_t segment, std::int64_t stage, bool sends,
                   std::vector<BlockParcel>& out) const {
    const Rank l = local(rank);
    const Rank m = node(rank);
    const Rank nodes = plan_.nodes;
    const bool reduce = stage == 0;
    for (Rank step = 1; step < nodes; ++step) {
      const Rank peer = (sends ? m + step : m - step + nodes) % nodes;
      const Rank in_charge = reduce == sends ? peer : m;
      out.push_back({at(peer, l), shard(segment, own(l)) + in_charge, 1, reduce, port_weight(1, nodes)});
    }
  }

  /// Appends the parcels along tree edges; each edge of a rank has its own stage.
  void along_trees(Rank rank, std::int64_t round, bool sends, std::vector<BlockParcel>& out) const {
    const Rank l = local(rank);
    const std::size_t start = out.size();
    for (int tree = 0; tree < 2; ++tree) {
      const TreePlace place = place_in_tree(rank_to_place(node(rank), tree, plan_.nodes), plan_.nodes);
      const auto add_if = [&](Rank peer, std::int64_t stage, bool reduce) {
        const std::int64_t segment = round - stride_ * (within_ + stage);
        if (peer < 0 || segment < 0 || segment >= segments_) return;
        out.push_back(
            {at(place_to_rank(peer, tree, plan_.nodes), l), shard(segment, own(l)) + tree, 1, reduce, 1, tree});
      };
      if (sends) {
        add_if(place.parent, depth_ - place.depth, true);
        for (const Rank child : place.children) add_if(child, depth_ + place.depth, false);
      } else {
        for (const Rank child : place.children) add_if(child, depth_ - place.depth - 1, true);
        add_if(place.parent, depth_ + place.depth - 1, false);
      }
    }
    // Sorts by segment: shards of later segments have higher numbers.
    put_in_order(std::span(out).subspan(start), [&](const BlockParcel& a, const BlockParcel& b) {
      return a.first / (plan_.per_node * parts_) < b.first / (plan_.per_node * parts_);
    });
  }

  // Creates messages without blocks, whose sizes are all equal here. to_transfers(sent(…)) would take ten times as
  // long.

  /// Tree edge of a node, and the stages of a segment at which the node sends and receives along it.
  struct TreeEdge {
    Rank peer;  ///< neighbouring node
    std::int32_t tree;
    std::int64_t send_stage, receive_stage;
  };

  void know_messages() {
    edges_of_.push_back(0);
    for (Rank node = 0; node < plan_.nodes; ++node) {
      for (int tree = 0; tree < 2; ++tree) {
        const TreePlace place = place_in_tree(rank_to_place(node, tree, plan_.nodes), plan_.nodes);
        const auto add_edge = [&](Rank peer, std::int64_t sends, std::int64_t receives) {
          if (peer < 0) return;
          edges_.push_back({place_to_rank(peer, tree, plan_.nodes), tree, within_ + sends, within_ + receives});
        };
        add_edge(place.parent, depth_ - place.depth, depth_ + place.depth - 1);
        for (const Rank child : place.children) add_edge(child, depth_ + place.depth, depth_ - place.depth - 1);
      }
      std::sort(
          edges_.begin() + static_cast<std::ptrdiff_t>(edges_of_.back()), edges_.end(),
          [](const TreeEdge& a, const TreeEdge& b) { return std::pair(a.peer, a.tree) < std::pair(b.peer, b.tree); });
      edges_of_.push_back(edges_.size());
    }
    if (within_ == 0) return;
    const Rank n = plan_.per_node;
    const double weight =
        plan_.within == WithinNode::rings ? 1 : port_weight((1 + 1.0 / n) / nvls_tree_efficiency(), n);
    const double shard_bytes = weight * run_bytes(0, parts_);
    inside_bytes_.push_back(0);
    for (std::int64_t shards = 1; shards <= 2 * within_; ++shards) {  // adds in the same order as to_transfers()
      inside_bytes_.push_back(inside_bytes_.back() + shard_bytes);
    }
  }

  /// Returns the number of segments that are at stages [begin, end) in the round.
  std::int64_t at_stages(std::int64_t round, std::int64_t begin, std::int64_t end) const {
    const std::int64_t too_far = round - stride_ * begin;  // segment at stage `begin`
    if (too_far < 0) return 0;
    const std::int64_t last = std::min(end - 1, begin + too_far / stride_);
    const std::int64_t behind = round - (segments_ - 1);  // stride × the first stage that still has a segment
    const std::int64_t first = behind <= 0 ? begin : std::max(begin, (behind + stride_ - 1) / stride_);
    return std::max<std::int64_t>(0, last - first + 1);
  }

  void messages(Rank rank, std::int64_t round, bool sends, bool by_channel, std::vector<Transfer>& out) const {
    const Rank own_node = node(rank);
    const Rank l = local(rank);
    const std::size_t start = out.size();
    const auto inside_node = [&] {
      if (within_ == 0) return;
      const std::int64_t shards = at_stages(round, 0, within_) + at_stages(round, within_ + between_, stages_);
      if (shards == 0) return;
      const double bytes = inside_bytes_[static_cast<std::size_t>(shards)];
      if (plan_.within == WithinNode::rings) {
        out.push_back({at(own_node, sends ? l + 1 : l - 1), bytes});
        return;
      }
      for (Rank peer = 0; peer < plan_.per_node; ++peer) {
        if (peer != l) out.push_back({at(own_node, peer), bytes});
      }
    };
    bool is_inside_there = false;
    const double bytes = run_bytes(0, 1);
    for (std::size_t i = edges_of_[static_cast<std::size_t>(own_node)];
         i < edges_of_[static_cast<std::size_t>(own_node) + 1]; ++i) {
      const TreeEdge& edge = edges_[i];
      if (edge.peer > own_node && !std::exchange(is_inside_there, true)) inside_node();
      const std::int64_t segment = round - stride_ * (sends ? edge.send_stage : edge.receive_stage);
      if (segment < 0 || segment >= segments_) continue;
      const Rank peer = at(edge.peer, l);
      if (!by_channel && out.size() > start && out.back().peer == peer) {
        out.back().bytes += bytes;
      } else {
        out.push_back({peer, bytes, by_channel ? edge.tree : 0});
      }
    }
    if (!is_inside_there) inside_node();
  }

  NodePlan plan_;
  std::int64_t parts_, segments_;
  std::int64_t within_, between_, stages_;  ///< stages of a segment: inside the node (each way), between nodes, and all
                                            ///< together
  std::int64_t stride_;                     ///< rounds between consecutive stages of a segment
  int depth_;
  std::vector<TreeEdge> edges_;        ///< sorted by node, then by peer
  std::vector<std::size_t> edges_of_;  ///< per node, index of its first edge; then the end
  std::vector<double> inside_bytes_;   ///< bytes of a message inside a node, by its number of shards
};

std::unique_ptr<BlockRounds> in_segments(const CollectiveRequest& request, const RankLayout& layout, WithinNode within,
                                         BetweenNodes between, const char* name) {
  // NVLS supports only the protocol Simple.
  const Protocol protocol = within == WithinNode::node_switch          ? Protocol::simple
                            : request.protocol == Protocol::by_message ? choose_protocol(request, name, layout)
                                                                       : request.protocol;
  const NodePlan plan = node_plan(layout, within, between, protocol);
  const double bytes = request.bytes.front();
  auto rounds = std::make_unique<NodeTrees>(plan, bytes, plan.segments(bytes, request.segment_bytes, layout));
  if (layout.of_gpus()) {
    rounds->set_lost_seconds(plan.loss(bytes, layout));
    rounds->set_start_seconds(plan.hop_seconds(layout) + rounds->lost_seconds());
  }
  return rounds;
}

}  // namespace

std::unique_ptr<BlockRounds> tree_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  if (has_uneven_nodes(layout)) return uneven_tree_all_reduce(request, layout);
  return in_segments(request, layout, WithinNode::rings, BetweenNodes::trees, "tree");
}

std::unique_ptr<BlockRounds> nvls_tree_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  return in_segments(request, layout, WithinNode::node_switch, BetweenNodes::trees, "nvls-tree");
}

std::unique_ptr<BlockRounds> sharp_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  return in_segments(request, layout, layout.switch_adds_up ? WithinNode::node_switch : WithinNode::rings,
                     BetweenNodes::fabric, "sharp");
}

}  // namespace dadsim::collectives
