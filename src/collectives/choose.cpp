// What `auto` stands for: each candidate's time by a formula, as in NCCL's tuner (NCCL 2.28, src/graph/tuning.cc), and
// the least taken. docs/collectives.md has the formulas and where they cross.
#include <algorithm>
#include <span>

#include "collectives/chain.hpp"
#include "collectives/double_binary_tree.hpp"
#include "collectives/layouts.hpp"
#include "collectives/node_trees.hpp"
#include "collectives/nvls.hpp"

namespace dadsim::collectives {
namespace {

/// Share of the bandwidth of a ring, which uses one steady pair of neighbours, that trees and changing, distant
/// partners reach: NCCL 2.8 takes 0.9 for its trees.
constexpr double kTrees = 0.9;
/// The share that is reached where everybody sends to everybody at once: 4 to 8 hosts over TCP were measured at 72 to
/// 84 % of what ideally shared links would give.
constexpr double kAllAtOnce = 0.8;
/// Stages of a segment up to which an all-reduce in segments is a candidate: its rounds of filling and draining differ
/// from one another, so that with many flow fidelity would have to share the links for each.
constexpr std::int64_t kMostStages = 128;

/// What NCCL's tuner multiplies the latency of rings between nodes with, from Ampere on (its "plateau effect of ring").
constexpr double kPlateau = 1.4;

struct Candidate {
  const char* name;
  double seconds;
};

/// N ranks: M nodes of L where the layout is hierarchical, else M = N and L = 1. Distances below L, if it is a power of
/// two, stay inside a node.
class Estimate {
 public:
  explicit Estimate(const RankLayout& layout)
      : n_(layout.ranks()),
        per_node_(layout.is_hierarchical() ? layout.ranks_per_node() : 1),
        nodes_(n_ / per_node_),
        power_(power_of_two_within(n_)),
        levels_(ceil_log2(n_)),
        inside_(is_power_of_two(per_node_) ? per_node_ : 1),
        lanes_(ring_lanes(layout)),
        turns_(layout.rails > 0 ? static_cast<double>(per_node_) / layout.rails : per_node_),
        meshed_(layout.meshed_nodes),
        near_(layout.inside),
        far_(slowest_channel(layout)) {}

  bool hierarchical() const { return per_node_ > 1; }
  bool power_of_two() const { return power_ == n_; }

  /// `passes` times N − 1 rounds of one block. With several rings each has its share of the block. The longest chain of
  /// causes stays on the pair whose transfers take longest, or moves on with a block where its latency makes it wait.
  double ring(int passes, double block) const {
    if (lanes_ == 1) return passes * (n_ - 1) * far(block);
    const double part = block / lanes_;
    if (!hierarchical()) return passes * (n_ - 1) * near(part * lanes_ / (n_ - 1));
    // A switch's port carries the messages of all rings, an adapter those of the ranks that it serves.
    const double inside = (meshed_ ? 1 : lanes_ - 1) * near_.transfer(part);
    const double between = turns_ * far_.transfer(part);
    const double transfer = std::max(inside, between);
    const double hops_between = static_cast<double>(passes) * (n_ - 1) * nodes_ / n_;
    const double hops_inside = passes * (n_ - 1) - hops_between;
    const double wait = hops_between * std::max(0.0, latency(far_, part) + between - transfer) +
                        hops_inside * std::max(0.0, latency(near_, part) + inside - transfer);
    return passes * (n_ - 1) * transfer + kPlateau * wait;
  }

  /// Rings inside and between the nodes; `passes` of each. Between the nodes one block is sent at a time, inside one
  /// for each node.
  double hierarchical(int passes, double block) const {
    return passes * ((nodes_ - 1) * far(block) + (per_node_ - 1) * near(block * nodes_));
  }

  /// Inside the only node, through its switch.
  double nvls(double bytes, double segments) const {
    return 2 * (segments + 2) * near_.latency +
           (segments + 1) / segments * (n_ + 1) / n_ * bytes / kNvlsEfficiency / near_.bandwidth;
  }

  /// Partners at all powers of two below P, the bytes proportional to `distance` (all-gather) or, the other way round,
  /// to P/distance (all-reduce); `smallest` is what is sent in the smallest exchange.
  double doubling(int passes, double smallest, bool far_is_large) const {
    double seconds = 0;
    for (Rank distance = 1; distance < power_; distance *= 2) {
      const double bytes = smallest * (far_is_large ? distance : power_ / 2 / distance) / kTrees;
      seconds += distance < inside_ ? near(bytes) : far(bytes);
    }
    return passes * seconds;
  }
  /// What numbers of ranks that are no power of two cost on top.
  double fold(double in, double out) const { return power_of_two() ? 0 : far(in / kTrees) + far(out / kTrees); }

  double double_binary_tree(double bytes, double segments) const {
    const double segment = bytes / segments / kTrees;
    // A node's first rank has one child in the node before, at half the distance of a node.
    const int inside_levels = std::max(0, ceil_log2(inside_) - 1);
    return 2 * inside_levels * near(segment) + 2 * (levels_ - inside_levels) * far(segment) +
           (segments - 1) * far(2 * segment);
  }

  double bruck(double total) const { return levels_ * far(0) + others(total) / kTrees / far_.bandwidth; }

  /// One round with everybody; `total` is what all hand over.
  double direct(double total) const {
    const double inside = total * (per_node_ - 1) / n_ / near_.bandwidth;
    const double between = total * (n_ - per_node_) / n_ / far_.bandwidth;
    return far(0) + std::max(inside, between) / kAllAtOnce;
  }

  /// Two rounds in which each pair of a mesh has 1/N of the vector.
  double all_pairs(double bytes) const { return 2 * near(bytes / n_); }

  /// The root with all others in one round.
  double flat(double total) const { return far(others(total)); }
  double binomial_whole(double bytes) const { return levels_ * far(bytes); }
  double binomial_blocks(double total) const { return levels_ * far(0) + others(total) / far_.bandwidth; }
  double chain(double bytes, double segments) const { return (n_ - 2 + segments) * far(bytes / segments); }
  double pairwise(double block) const { return (n_ - 1) * far(block / kTrees); }

 private:
  double others(double total) const { return total * (n_ - 1) / n_; }
  static double latency(const RankLayout::Channel& channel, double bytes) {
    return channel.seconds(bytes) - channel.transfer(bytes);
  }
  double near(double bytes) const { return near_.seconds(bytes); }
  double far(double bytes) const { return far_.seconds(bytes); }

  Rank n_, per_node_, nodes_, power_;
  int levels_;
  Rank inside_;
  Rank lanes_;
  double turns_;  ///< ranks that leave their node through the same adapter
  bool meshed_;
  RankLayout::Channel near_, far_;
};

/// Whether any node has several ranks.
bool shares_nodes(const RankLayout& layout) {
  return layout.node_of.size() > 1 &&
         *std::ranges::max_element(layout.node_of) + 1 < static_cast<std::int32_t>(layout.node_of.size());
}

bool is_one_node(const RankLayout& layout) {
  return layout.ranks() > 1 && std::ranges::all_of(layout.node_of, [](std::int32_t node) { return node == 0; });
}

std::vector<Candidate> candidates(const CollectiveRequest& request, const RankLayout& layout) {
  const Estimate estimate(layout);
  const Rank n = layout.ranks();
  const double bytes = request.bytes.front();
  const BlockSizes blocks = one_block_per_rank(request, n);
  const double largest = blocks.largest();
  const double total = blocks.total();
  std::vector<Candidate> result;
  const auto add = [&](const char* name, double seconds) { result.push_back({name, seconds}); };
  const bool nodes_of_gpus = layout.switched_nodes && estimate.hierarchical();
  switch (request.kind) {
    case step::CollectiveKind::all_reduce:
      // The MPI libraries exchange halves with partners farther and farther away; NCCL, for nodes of GPUs, never does:
      // all GPUs of a node would cross to other nodes at once in most of the rounds.
      if (!shares_nodes(layout)) {
        add("halving-doubling",
            estimate.doubling(2, bytes / power_of_two_within(n), false) + estimate.fold(bytes, bytes));
      }
      if (is_one_node(layout) && layout.switch_adds_up) {
        add("nvls", estimate.nvls(bytes, static_cast<double>(nvls_segments(bytes, request.segment_bytes, layout))));
      }
      if (is_one_node(layout) && layout.meshed_nodes) add("direct", estimate.all_pairs(bytes));
      if (!nodes_of_gpus) {
        add("double-binary-tree", estimate.double_binary_tree(bytes, static_cast<double>(double_binary_tree_segments(
                                                                         bytes, request.segment_bytes, layout))));
        if (estimate.hierarchical()) add("hierarchical", estimate.hierarchical(2, bytes / n));
      } else {
        const auto in_segments = [&](const char* name, WithinNode within, BetweenNodes between) {
          const NodePlan plan = node_plan(layout, within, between);
          if (2 * plan.stages_within() + plan.stages_between() > kMostStages) return;
          const std::int64_t segments = plan.segments(bytes, request.segment_bytes, layout);
          add(name, plan.seconds(bytes, static_cast<double>(segments), layout) + plan.loss(bytes, layout));
        };
        const WithinNode best = layout.switch_adds_up ? WithinNode::node_switch : WithinNode::rings;
        in_segments("tree", WithinNode::rings, BetweenNodes::trees);
        if (layout.switch_adds_up) in_segments("nvls-tree", WithinNode::node_switch, BetweenNodes::trees);
        if (layout.fabric_adds_up) in_segments("sharp", best, BetweenNodes::fabric);
      }
      add("ring", estimate.ring(2, bytes / n));
      break;
    case step::CollectiveKind::reduce_scatter:
      add("direct", estimate.direct(bytes));
      add("recursive-halving",
          estimate.doubling(1, bytes / power_of_two_within(n), true) + estimate.fold(bytes, bytes / n));
      add("ring", estimate.ring(1, bytes / n));
      break;
    case step::CollectiveKind::all_gather:
      add("direct", estimate.direct(total));
      if (estimate.power_of_two()) {
        add("recursive-doubling", estimate.doubling(1, total / n, true));
      } else {
        add("bruck", estimate.bruck(total));
      }
      if (estimate.hierarchical()) add("hierarchical", estimate.hierarchical(1, largest));
      add("ring", estimate.ring(1, largest));
      break;
    case step::CollectiveKind::broadcast:
      add("flat", estimate.flat(bytes * n));
      add("binomial", estimate.binomial_whole(bytes));
      add("chain", estimate.chain(bytes, static_cast<double>(chain_segments(bytes, request.segment_bytes, layout))));
      break;
    case step::CollectiveKind::gather:
    case step::CollectiveKind::scatter:
      add("flat", estimate.flat(total));
      add("binomial", estimate.binomial_blocks(total));
      break;
    case step::CollectiveKind::all_to_all:
      add("direct", estimate.direct(largest * n));
      add("pairwise", estimate.pairwise(largest));
      break;
    case step::CollectiveKind::neighbour_exchange:
    case step::CollectiveKind::stage_send:
      add("direct", 0);
      break;
  }
  return result;
}

}  // namespace

std::string choose_collective(const CollectiveRequest& request, const RankLayout& layout) {
  check_request(request, layout.ranks());
  const std::vector<Candidate> all = candidates(request, layout);
  if (layout.ranks() == 1) return all.front().name;  // nothing to do, whatever it is called
  // Candidates stand in order of preference: a later one has to be faster by more than rounding.
  const Candidate* best = &all.front();
  for (const Candidate& candidate : std::span(all).subspan(1)) {
    if (candidate.seconds < best->seconds * (1 - 1e-9)) best = &candidate;
  }
  return best->name;
}

}  // namespace dadsim::collectives
