#pragma once

#include <cstdint>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Method of summing and copying inside a node: along rings, or through the node's switch (NVLink SHARP).
enum class WithinNode : std::uint8_t { rings, node_switch };
/// Method of summing and copying between nodes: two trees per rank of a node, or the fabric's switches (InfiniBand
/// SHARP).
enum class BetweenNodes : std::uint8_t { trees, fabric };

/// Plan of an all-reduce of M nodes of L ranks each, in segments.
struct NodePlan {
  Rank nodes = 1, per_node = 1;
  WithinNode within = WithinNode::rings;
  BetweenNodes between = BetweenNodes::trees;
  Protocol protocol = Protocol::by_message;
  Rank neighbours = 2;  ///< most neighbouring nodes of a node, in both trees together
  /// Rounds that a rank is in at a time, and from a segment's stage to its next: with two the latency of one passes
  /// while the bytes of the other do.
  std::int64_t in_flight = 1;

  /// Bytes that a port, and an adapter, carries each way in all, per byte of the vector. In its trees a rank sends half
  /// a shard per neighbour; ranks that share an adapter take turns.
  double port_bytes() const;
  double adapter_bytes(const RankLayout& layout) const;
  double turns(const RankLayout& layout) const;

  /// Returns the rounds of a segment inside the nodes, before and after those between nodes, and the rounds between
  /// nodes.
  std::int64_t stages_within() const;
  std::int64_t stages_between() const;
  /// Returns the seconds by formula with S segments and one round at a time. A round takes as long as the slowest of a
  /// rank's sends inside its node and between nodes, over all segments in progress.
  double seconds(double bytes, double segments, const RankLayout& layout) const;
  /// Seconds that NCCL's trees lose on vectors of medium size, whose chunks do not fill the pipeline, by NCCL's tuner
  /// (treeCorrectionFactor, a share of the bandwidth per power of two). 0 in switches.
  double loss(double bytes, const RankLayout& layout) const;
  /// Returns the additional seconds of hops in trees, compared with rings.
  double hop_seconds(const RankLayout& layout) const;
  /// The number of segments that NCCL cuts vectors into where several rounds are in flight, else the one for which
  /// seconds() is least; with `segment_bytes` the fewest that are no larger.
  std::int64_t segments(double bytes, double segment_bytes, const RankLayout& layout) const;

 private:
  double nvls_tree_chunks(double bytes) const;  ///< bytes of a segment
};

/// On nodes of one rank each, or on one node, every rank counts as a node.
NodePlan node_plan(const RankLayout& layout, WithinNode within, BetweenNodes between, Protocol protocol);

}  // namespace dadsim::collectives
