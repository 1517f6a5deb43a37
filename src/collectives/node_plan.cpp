// Estimates an all-reduce over nodes of several ranks by formula, and chooses its number of segments.
#include <algorithm>
#include <cmath>

#include "collectives/double_binary_tree.hpp"
#include "collectives/layouts.hpp"
#include "collectives/libraries.hpp"
#include "collectives/node_trees.hpp"
#include "collectives/nvls.hpp"
#include "collectives/segments.hpp"

namespace dadsim::collectives {

NodePlan node_plan(const RankLayout& layout, WithinNode within, BetweenNodes between, Protocol protocol) {
  const Rank each = layout.is_hierarchical() ? layout.ranks_per_node() : 1;
  const Rank nodes = layout.ranks() / each;
  // NCCL's buffers hold several chunks of a channel. Two rounds in flight show no benefit in measurements over EFA (p5,
  // docs/validation.md), nor for trees of rings, whose losses loss() adds. Over sockets flow fidelity simulates rounds
  // in lockstep.
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
  // Returns the seconds of `messages` messages in sequence over one line.
  const auto time = [this](const RankLayout::Channel& channel, double message, double messages) {
    return channel.seconds(message, protocol) + (messages - 1) * channel.transfer(message, protocol);
  };
  const RankLayout::Channel& far = slowest_channel(layout);
  const double segment = bytes / segments;
  const auto inside = static_cast<std::int64_t>(stages_within());
  const auto across = static_cast<std::int64_t>(stages_between());
  const std::int64_t stages = 2 * inside + across;
  const auto count = static_cast<std::int64_t>(segments);
  // Returns the seconds of a round in which segments are at stages `first` … `last`.
  const auto round = [&](std::int64_t first, std::int64_t last) {
    const auto within_range = [&](std::int64_t begin, std::int64_t end) {
      return static_cast<double>(std::max<std::int64_t>(0, std::min(last + 1, end) - std::max(first, begin)));
    };
    const double in = within_range(0, inside) + within_range(inside + across, stages);
    const double out = within_range(inside, inside + across);
    double longest = 0;
    if (in > 0) longest = time(layout.inside, port_bytes() * segment * in / static_cast<double>(2 * inside), 1);
    if (out > 0) {
      // In trees, a rank sends each neighbour one message of half a shard.
      const double all = adapter_bytes(layout) * segment * out / static_cast<double>(across);
      const double message = between == BetweenNodes::trees ? segment / per_node / 2 : all / turns(layout);
      longest = std::max(longest, time(far, message, std::max(1.0, all / message)));
    }
    return longest;
  };
  double seconds = 0;
  for (std::int64_t i = 0; i < count + stages - 1; ++i) {
    if (i == stages - 1 && count > stages) {  // all rounds are equal until the last segment begins
      seconds += static_cast<double>(count - stages) * round(0, stages - 1);
      i += count - stages;
    }
    seconds += round(i - std::min(count - 1, i), std::min(i, stages - 1));
  }
  return seconds;
}

double NodePlan::hop_seconds(const RankLayout& layout) const {
  return between == BetweenNodes::trees ? static_cast<double>(stages_between()) * layout.tree_latency : 0;
}

double NodePlan::loss(double bytes, const RankLayout& layout) const {
  if (between != BetweenNodes::trees || within == WithinNode::node_switch) return 0;
  const double whole = std::max(layout.inside.transfer(port_bytes() * bytes, protocol),
                                slowest_channel(layout).transfer(adapter_bytes(layout) * bytes, protocol));
  return (1 / tree_share_of_bandwidth(protocol, bytes) - 1) * whole;
}

/// Returns the bytes of a segment of NVLSTree: one chunk per channel and rank of a node, with the chunk sizes of
/// NVIDIA/nccl 2.28, src/enqueue.cc (calcCollChunking).
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
  constexpr double kSmallest = 4096;  // smallest shard in bytes; with smaller ones, the work per message would dominate
  constexpr std::int64_t kMost = 1024;
  if (in_flight > 1) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(bytes / nvls_tree_chunks(bytes))), 1, kMost);
  }
  std::int64_t best = 1;
  double least = seconds(bytes, 1, layout);
  // Tries powers of two and the values half-way between them, which suffices near a flat minimum.
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

}  // namespace dadsim::collectives
