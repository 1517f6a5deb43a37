// All-reduce on nodes of several ranks, in segments: the ranks of a node add up, each taking charge of a shard; the
// ranks in charge of the same shard add up between the nodes; the node's ranks hand out what came of it. Inside and
// between all are busy at once, segments following one another a round apart.
//
//   tree       rings inside, two binary trees between the nodes for each shard: NCCL 2.4 (src/graph/trees.cc), whose
//              chain through the GPUs of a node loads every port as these rings do, with as many trees beside each
//              other as there are channels
//   nvls-tree  the node's switch adds up and copies (nvls.cpp), trees between: NCCL 2.18
//   sharp      the fabric's switches add up and copy between the nodes: InfiniBand SHARP (R. Graham et al., Scalable
//              hierarchical aggregation protocol, COMHPC 2016; NCCL's CollNet, with NVLS inside where there is one)
//
// Where a switch adds up, a rank hands it its vector once and gets the sum once. As in nvls.cpp the port's bytes are
// written as messages between all pairs, in two rounds: weights make them as many as the port carries.
#include "collectives/node_trees.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "collectives/double_binary_tree.hpp"
#include "collectives/layouts.hpp"
#include "collectives/libraries.hpp"
#include "collectives/nvls.hpp"
#include "collectives/segments.hpp"

namespace dadsim::collectives {
namespace {

/// Bytes per byte of the blocks so that `peers` messages carry, in each of two rounds, half of a port's `share` of the
/// vector that n parts make up.
double port_weight(double share, Rank n) { return 0.5 * share * n / (n - 1.0); }

class NodeTrees final : public BlockRounds {
 public:
  /// Block ((s·L + l)·P + p): part p of shard l of segment s. Trees have two parts, a fabric that adds up one per node.
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
  }

  std::int64_t count() const override { return segments_ + stride_ * (stages_ - 1); }
  Pace pace() const override { return {.in_flight = stride_}; }

  void sent(Rank rank, std::int64_t round, std::vector<Parcel>& out) const override { add(rank, round, true, out); }
  void received(Rank rank, std::int64_t round, std::vector<Parcel>& out) const override {
    add(rank, round, false, out);
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
  /// The shard that a rank is in charge of between the nodes: after its reduce-scatter a ring has left it the next one.
  Rank own(Rank local) const { return plan_.within == WithinNode::rings && within_ > 0 ? local + 1 : local; }

  /// What `rank` sends, or receives, in `round`: by segments, the first of which are farthest on.
  void add(Rank rank, std::int64_t round, bool sends, std::vector<Parcel>& out) const {
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
    put_in_order(std::span(out).subspan(start), [](const Parcel& a, const Parcel& b) {
      return a.peer < b.peer || (a.peer == b.peer && a.channel < b.channel);
    });
  }

  /// Stable. Few are put in place one by one: a sort that asks for memory takes longer than all else here.
  template <class Before>
  static void put_in_order(std::span<Parcel> parcels, const Before& before) {
    constexpr std::size_t kFew = 48;
    if (parcels.size() > kFew) return std::stable_sort(parcels.begin(), parcels.end(), before);
    for (auto next = parcels.begin(); next != parcels.end(); ++next) {
      std::rotate(std::upper_bound(parcels.begin(), next, *next, before), next, next + 1);
    }
  }

  /// Calls `visit(segment, stage)` for the segments that are at stages from `begin` to before `end` in the round.
  template <class Visit>
  void for_stages(std::int64_t round, std::int64_t begin, std::int64_t end, const Visit& visit) const {
    for (std::int64_t stage = end - 1; stage >= begin; --stage) {
      const std::int64_t segment = round - stride_ * stage;
      if (segment >= 0 && segment < segments_) visit(segment, stage);
    }
  }

  void inside(Rank rank, std::int64_t segment, std::int64_t stage, bool reduce, bool sends,
              std::vector<Parcel>& out) const {
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
      const Rank in_charge = reduce == sends ? peer : l;  // of what is added up: its receiver; of a copy: its sender
      out.push_back({at(node(rank), peer), shard(segment, in_charge), parts_, reduce, weight});
    }
  }

  void over_fabric(Rank rank, std::int64_t segment, std::int64_t stage, bool sends, std::vector<Parcel>& out) const {
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

  /// A rank has one stage for each of its edges.
  void along_trees(Rank rank, std::int64_t round, bool sends, std::vector<Parcel>& out) const {
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
    // Segment by segment: shards of later ones have higher numbers.
    put_in_order(std::span(out).subspan(start), [&](const Parcel& a, const Parcel& b) {
      return a.first / (plan_.per_node * parts_) < b.first / (plan_.per_node * parts_);
    });
  }

  NodePlan plan_;
  std::int64_t parts_, segments_;
  std::int64_t within_, between_, stages_;  ///< of a segment: inside once, between, in all
  std::int64_t stride_;                     ///< rounds from one stage of a segment to the next
  int depth_;
};

std::unique_ptr<BlockRounds> in_segments(const CollectiveRequest& request, const RankLayout& layout, WithinNode within,
                                         BetweenNodes between, const char* name) {
  // NVLS has the protocol Simple only.
  const Protocol protocol = within == WithinNode::node_switch          ? Protocol::simple
                            : request.protocol == Protocol::by_message ? choose_protocol(request, name, layout)
                                                                       : request.protocol;
  const NodePlan plan = node_plan(layout, within, between, protocol);
  const double bytes = request.bytes.front();
  auto rounds = std::make_unique<NodeTrees>(plan, bytes, plan.segments(bytes, request.segment_bytes, layout));
  rounds->set_start_seconds(layout.of_gpus() ? plan.loss(bytes, layout) : 0);
  return rounds;
}

}  // namespace

NodePlan node_plan(const RankLayout& layout, WithinNode within, BetweenNodes between, Protocol protocol) {
  const Rank each = layout.is_hierarchical() ? layout.ranks_per_node() : 1;
  const Rank nodes = layout.ranks() / each;
  // NCCL's buffers hold several chunks of a channel. As measured, that is of no use over EFA (p5, docs/validation.md),
  // nor to trees of rings, of whose losses loss() says more; over sockets flow follows rounds in step.
  const bool rdma = layout.of_gpus() && layout.between.ll128_latency > 0;
  const std::int64_t in_flight = rdma && within == WithinNode::node_switch && between == BetweenNodes::trees ? 2 : 1;
  return {nodes, each, within, between, protocol, most_neighbours(nodes), in_flight};
}

double NodePlan::port_bytes() const {
  return within == WithinNode::rings ? 2.0 * (per_node - 1) / per_node : (1 + 1.0 / per_node) / nvls_tree_efficiency();
}

double NodePlan::turns(const RankLayout& layout) const {
  return layout.rails > 0 ? static_cast<double>(per_node) / layout.rails : 1;
}

double NodePlan::adapter_bytes(const RankLayout& layout) const {
  return turns(layout) / per_node * (between == BetweenNodes::trees ? neighbours / 2.0 : 1);
}

std::int64_t NodePlan::stages_within() const {
  if (per_node == 1) return 0;
  return within == WithinNode::rings ? per_node - 1 : 1;
}

std::int64_t NodePlan::stages_between() const {
  if (nodes == 1) return 0;
  return between == BetweenNodes::trees ? 2 * ceil_log2(nodes) : 2;
}

double NodePlan::seconds(double bytes, double segments, const RankLayout& layout) const {
  // Messages of so many bytes, one after the other over the same line.
  const auto time = [this](const RankLayout::Channel& channel, double message, double messages) {
    return channel.seconds(message, protocol) + (messages - 1) * channel.transfer(message, protocol);
  };
  const RankLayout::Channel& far = slowest_channel(layout);
  const double segment = bytes / segments;
  const auto inside = static_cast<std::int64_t>(stages_within());
  const auto across = static_cast<std::int64_t>(stages_between());
  const std::int64_t stages = 2 * inside + across;
  const auto count = static_cast<std::int64_t>(segments);
  // A round in which the segments are at the stages from `first` to `last`.
  const auto round = [&](std::int64_t first, std::int64_t last) {
    const auto within_range = [&](std::int64_t begin, std::int64_t end) {
      return static_cast<double>(std::max<std::int64_t>(0, std::min(last + 1, end) - std::max(first, begin)));
    };
    const double in = within_range(0, inside) + within_range(inside + across, stages);
    const double out = within_range(inside, inside + across);
    double longest = 0;
    if (in > 0) longest = time(layout.inside, port_bytes() * segment * in / static_cast<double>(2 * inside), 1);
    if (out > 0) {
      // In trees one message of half a shard for each neighbour.
      const double all = adapter_bytes(layout) * segment * out / static_cast<double>(across);
      const double message = between == BetweenNodes::trees ? segment / per_node / 2 : all / turns(layout);
      longest = std::max(longest, time(far, message, std::max(1.0, all / message)));
    }
    return longest;
  };
  double seconds = 0;
  for (std::int64_t i = 0; i < count + stages - 1; ++i) {
    if (i == stages - 1 && count > stages) {  // all rounds are alike until the last segment begins
      seconds += static_cast<double>(count - stages) * round(0, stages - 1);
      i += count - stages;
    }
    seconds += round(i - std::min(count - 1, i), std::min(i, stages - 1));
  }
  return seconds;
}

double NodePlan::loss(double bytes, const RankLayout& layout) const {
  if (between != BetweenNodes::trees) return 0;
  const double hops = static_cast<double>(stages_between()) * layout.tree_latency;
  if (within == WithinNode::node_switch) return hops;
  const double whole = std::max(layout.inside.transfer(port_bytes() * bytes, protocol),
                                slowest_channel(layout).transfer(adapter_bytes(layout) * bytes, protocol));
  return hops + (1 / tree_share_of_bandwidth(protocol, bytes) - 1) * whole;
}

/// NVIDIA/nccl 2.28, src/enqueue.cc (calcCollChunking): NVLSTree cuts what it gets into chunks of these sizes, one for
/// each channel and rank of a node at a time.
double NodePlan::nvls_tree_chunks(double bytes) const {
  constexpr double kKibi = 1024;
  constexpr double kChannels = 16;
  const double at_once = kChannels * per_node;
  double chunk = nodes >= 4 ? 64 * kKibi : 128 * kKibi;
  if (bytes < 4 * at_once * chunk) chunk = std::min(chunk, 64 * kKibi);
  if (bytes < at_once * chunk) chunk = std::min(chunk, 32 * kKibi);
  return at_once * chunk;
}

std::int64_t NodePlan::segments(double bytes, double segment_bytes, const RankLayout& layout) const {
  if (segment_bytes > 0) return segment_count(bytes, segment_bytes, 0, layout.between);
  constexpr double kSmallest = 4096;  // bytes of a shard: below, the work per message would count
  constexpr std::int64_t kMost = 1024;
  if (in_flight > 1) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(bytes / nvls_tree_chunks(bytes))), 1, kMost);
  }
  std::int64_t best = 1;
  double least = seconds(bytes, 1, layout);
  // Powers of two and what is half-way: the minimum is flat.
  for (std::int64_t power = 2; power <= kMost; power *= 2) {
    for (const std::int64_t segments : {power, power + power / 2}) {
      if (segments > kMost || bytes / static_cast<double>(segments * per_node) < kSmallest) continue;
      const double time = seconds(bytes, static_cast<double>(segments), layout);
      if (time < least) {
        least = time;
        best = segments;
      }
    }
  }
  return best;
}

std::unique_ptr<BlockRounds> tree_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
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
