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
  Rank neighbours = 2;  ///< largest number of neighbouring nodes of a node, in both trees together
  /// Rounds in flight per rank, equal to the rounds between consecutive stages of a segment. With two, the latency of
  /// one round overlaps with the bytes of the other.
  std::int64_t in_flight = 1;

  /// Return the bytes that a port, and an adapter, carries in each direction, per byte of the vector. In its trees a
  /// rank sends half a shard per neighbour. turns(): ranks that share an adapter, and send one after the other.
  double port_bytes() const;
  double adapter_bytes(const RankLayout& layout) const;
  double turns(const RankLayout& layout) const;

  /// Return a segment's rounds inside the nodes (as many before as after those between nodes), and its rounds between
  /// nodes.
  std::int64_t stages_within() const;
  std::int64_t stages_between() const;
  /// Returns the estimated seconds with S segments and one round in flight. A round takes as long as the slower of a
  /// rank's sends inside its node and between nodes, over all segments in progress.
  double seconds(double bytes, double segments, const RankLayout& layout) const;
  /// Returns the seconds that NCCL's trees lose on medium-size vectors, whose chunks do not fill the pipeline: the
  /// estimate of NCCL's tuner (treeCorrectionFactor, a share of the bandwidth per power of two). 0 with switches inside
  /// the node.
  double loss(double bytes, const RankLayout& layout) const;
  /// Returns the additional seconds of tree hops, compared with hops in rings.
  double hop_seconds(const RankLayout& layout) const;
  /// Returns the number of segments. With `segment_bytes`, the fewest segments of at most this size; with several
  /// rounds in flight, NCCL's number; otherwise the number with the least seconds().
  std::int64_t segments(double bytes, double segment_bytes, const RankLayout& layout) const;

 private:
  double nvls_tree_chunks(double bytes) const;  ///< bytes of a segment
};

/// Makes a plan. If every node has one rank, or if there is one node, every rank counts as a node.
NodePlan node_plan(const RankLayout& layout, WithinNode within, BetweenNodes between, Protocol protocol);

}  // namespace dadsim::collectives
