// Algorithms of RCCL, and their choice: ROCm/rccl 2.21.5 (src/graph/tuning.cc, src/enqueue.cc). RCCL has rings and
// trees with LL and Simple. In a node with a link per pair, every rank sends its block directly to all others (MSCCL's
// schedules).
//
// RCCL's tuner multiplies its formulas by tables measured on AMD's own nodes, for every power of two of bytes. These
// tables describe the network of those nodes. dadsim replaces them by its own estimate for the simulated network: the
// slowest pair of ranks in every round of a ring, and the rounds of a tree. Algorithm and protocol are chosen together,
// once for the whole operation.
#include <algorithm>

#include "collectives/layouts.hpp"
#include "collectives/libraries.hpp"
#include "collectives/nccl_facts.hpp"
#include "collectives/node_trees.hpp"

namespace dadsim::collectives {
namespace {

/// Largest number of stages of a segment for which an all-reduce in segments is a candidate. All rounds in which its
/// pipeline fills or drains differ, and flow fidelity would have to share links in each.
constexpr std::int64_t kMostStages = 128;

/// Factor of NCCL for rings between nodes that wait for their latencies; RCCL's tuner is derived from NCCL's.
double plateau() { return nccl::generation_of(spec::GpuGeneration::ampere).plateau; }

/// Returns the seconds of rings that take `passes` · (N − 1) rounds of one block, with a share of the block per ring.
/// The critical path stays on the pair with the longest transfers, or follows a block over pairs whose latency makes it
/// wait.
double ring_seconds(const RankLayout& layout, int passes, double block, Protocol protocol) {
  const Rank n = layout.ranks();
  const Rank lanes = ring_lanes(layout);
  if (lanes == 1) return passes * (n - 1) * slowest_channel(layout).seconds(block, protocol);
  const double part = block / lanes;
  if (!layout.is_hierarchical()) return passes * (n - 1) * layout.inside.seconds(block / (n - 1), protocol);
  const Rank per_node = layout.ranks_per_node();
  const double turns = layout.rails > 0 ? static_cast<double>(per_node) / layout.rails : per_node;
  // A switch's port carries the messages of all rings; an adapter carries the messages of the ranks that it serves.
  const double inside = (layout.meshed_nodes ? 1 : lanes - 1) * layout.inside.transfer(part, protocol);
  const double between = turns * layout.between.transfer(part, protocol);
  const double transfer = std::max(inside, between);
  const double hops_between = static_cast<double>(passes) * (n - 1) / per_node;
  const double hops_inside = passes * (n - 1) - hops_between;
  const auto latency = [&](const RankLayout::Channel& channel) {
    return channel.seconds(part, protocol) - channel.transfer(part, protocol);
  };
  const double wait = hops_between * std::max(0.0, latency(layout.between) + between - transfer) +
                      hops_inside * std::max(0.0, latency(layout.inside) + inside - transfer);
  return passes * (n - 1) * transfer + plateau() * wait;
}

std::string setting(const char* algorithm, Protocol protocol) {
  return std::string("NCCL_ALGO=") + algorithm + " NCCL_PROTO=" + to_string(protocol);
}

}  // namespace

std::vector<CollectiveChoice> rccl_choices(const CollectiveRequest& request, const RankLayout& layout) {
  using step::CollectiveKind;
  const CollectiveKind kind = request.kind;
  if (const char* at_once = messages_at_once(kind); at_once != nullptr) return {{at_once}};
  const Rank n = layout.ranks();
  const double bytes = counted_bytes(request, n);
  std::vector<CollectiveChoice> choices;
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) return {{"ring", Protocol::simple}};
  if (layout.nodes() == 1 && layout.meshed_nodes) {
    const double rounds = kind == CollectiveKind::all_reduce ? 2 : 1;
    choices.push_back(
        {"direct", Protocol::by_message, rounds * layout.inside.seconds(bytes / n), "RCCL_MSCCL_ENABLE=1"});
  }
  for (const Protocol protocol : {Protocol::ll, Protocol::simple}) {
    if (kind == CollectiveKind::all_reduce && layout.is_hierarchical()) {
      const NodePlan plan = node_plan(layout, WithinNode::rings, BetweenNodes::trees, protocol);
      if (2 * plan.stages_within() + plan.stages_between() <= kMostStages) {
        const std::int64_t segments = plan.segments(bytes, request.segment_bytes, layout);
        const double seconds = plan.seconds(bytes, static_cast<double>(segments), layout);
        choices.push_back({"tree", protocol, seconds + plan.hop_seconds(layout) + plan.loss(bytes, layout),
                           setting("Tree", protocol)});
      }
    }
    const int passes = kind == CollectiveKind::all_reduce ? 2 : 1;
    choices.push_back({"ring", protocol, ring_seconds(layout, passes, bytes / n, protocol), setting("Ring", protocol)});
  }
  return choices;
}

}  // namespace dadsim::collectives
