// Hierarchical, in segments: rings inside the nodes, rings between them, all busy at once.
//
// Each segment passes through the stages of the hierarchical all-reduce (hierarchical.cpp), one round after the
// previous segment: a reduce-scatter inside the nodes (L − 1 rounds), an all-reduce between them (2(M − 1)), an
// all-gather inside (L − 1). All data of a rank for one peer in a round is one message. Without nodes of two ranks or
// more, the algorithm is a ring in segments.

#include <algorithm>
#include <utility>

#include "collectives/layouts.hpp"
#include "collectives/segments.hpp"

namespace dadsim::collectives {
namespace {

class HierarchicalPipelined final : public BlockRounds {
 public:
  /// Block (s·L + l)·M + m is part m of shard l of segment s.
  HierarchicalPipelined(Rank nodes, Rank per_node, double bytes, std::int64_t segments)
      : BlockRounds(nodes * per_node,
                    BlockSizes(segments * nodes * per_node, bytes / static_cast<double>(segments * nodes * per_node))),
        nodes_(nodes),
        per_node_(per_node),
        segments_(segments),
        scatter_(per_node - 1),
        between_(2 * (std::int64_t{nodes} - 1)),
        stages_(between_ + 2 * scatter_) {}

  std::int64_t count() const override { return segments_ + stages_ - 1; }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    add(rank, round, at(node(rank), local(rank) + 1), false, out);
    add(rank, round, at(node(rank) + 1, local(rank)), true, out);
  }

  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const Rank beside = at(node(rank), local(rank) - 1);
    const Rank afar = at(node(rank) - 1, local(rank));
    add(beside, round, beside, false, out);
    add(afar, round, afar, true, out);
  }

  /// Pairs inside nodes have kind 0, pairs between nodes kind 1. Rounds in which one kind sends nothing have separate
  /// patterns.
  bool sizes_of(std::int64_t round, RoundSizes& out) const override {
    const auto [inside, between] = bytes_in(round);
    out.bytes = {inside, between};
    out.pattern = (inside > 0 ? 1 : 0) + (between > 0 ? 2 : 0);
    return true;
  }
  std::int32_t kind_of(Rank from, Rank to) const override { return node(from) == node(to) ? 0 : 1; }

  /// Appends the messages of `sent` without iterating over segments.
  void sends(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override {
    const auto [inside, between] = bytes_in(round);
    if (inside > 0) out.push_back({at(node(rank), local(rank) + 1), inside});
    if (between > 0) out.push_back({at(node(rank) + 1, local(rank)), between});
  }
  void receives(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override {
    const auto [inside, between] = bytes_in(round);
    if (inside > 0) out.push_back({at(node(rank), local(rank) - 1), inside});
    if (between > 0) out.push_back({at(node(rank) - 1, local(rank)), between});
  }
  void lane_sends(Rank rank, Rank, std::int64_t round, std::vector<Transfer>& out) const override {
    sends(rank, round, out);
  }
  void lane_receives(Rank rank, Rank, std::int64_t round, std::vector<Transfer>& out) const override {
    receives(rank, round, out);
  }

  std::vector<RoundPhase> phases() const override {
    const std::int64_t fill = stages_ - 1;
    if (segments_ <= fill || fill == 0)
      return fill == 0 ? std::vector<RoundPhase>{{0, count(), true}} : BlockRounds::phases();
    return {{0, fill, fill == 1}, {fill, segments_ - fill, true}, {segments_, fill, fill == 1}};
  }

 private:
  Rank node(Rank rank) const { return rank / per_node_; }
  Rank local(Rank rank) const { return rank % per_node_; }
  Rank at(Rank node, Rank local) const {
    return (node + nodes_) % nodes_ * per_node_ + (local + per_node_) % per_node_;
  }

  /// Returns the bytes that a rank sends inside its node and to another node in a round.
  std::pair<double, double> bytes_in(std::int64_t round) const {
    const std::int64_t first = round - std::min(segments_ - 1, round);  // stage of the last segment
    const std::int64_t last = round - std::max<std::int64_t>(0, round - stages_ + 1);
    const auto common = [&](std::int64_t begin, std::int64_t end) {
      return std::max<std::int64_t>(0, std::min(last + 1, end) - std::max(first, begin));
    };
    const std::int64_t inside = common(0, scatter_) + common(scatter_ + between_, stages_);
    const std::int64_t between = common(scatter_, scatter_ + between_);
    return {static_cast<double>(inside * nodes_) * sizes().largest(), static_cast<double>(between) * sizes().largest()};
  }

  /// Appends the parcels that `sender` sends within its node, or between nodes, in `round`. `peer`: the other end, from
  /// the caller's side.
  void add(Rank sender, std::int64_t round, Rank peer, bool between, std::vector<BlockParcel>& out) const {
    const std::int64_t last = std::min(segments_ - 1, round);
    for (std::int64_t segment = std::max<std::int64_t>(0, round - stages_ + 1); segment <= last; ++segment) {
      const std::int64_t stage = round - segment;
      if ((stage >= scatter_ && stage < scatter_ + between_) != between) continue;
      BlockParcel parcel = parcel_of(sender, stage);
      parcel.peer = peer;
      parcel.first += segment * ranks();
      out.push_back(parcel);
    }
  }

  BlockParcel parcel_of(Rank sender, std::int64_t stage) const {
    const Rank l = local(sender);
    const auto shard = [&](std::int64_t x) { return (x % per_node_ + per_node_) % per_node_ * nodes_; };
    if (stage < scatter_) return {0, shard(l - stage), nodes_, true};
    stage -= scatter_;
    if (stage < between_) {
      const std::int64_t part = ((node(sender) - stage) % nodes_ + nodes_) % nodes_;
      return {0, shard(l + 1) + part, 1, stage < nodes_ - 1};
    }
    return {0, shard(l + 1 - (stage - between_)), nodes_, false};
  }

  Rank nodes_, per_node_;
  std::int64_t segments_;
  std::int64_t scatter_, between_, stages_;  ///< rounds of each stage, and rounds per segment
};

/// Returns the number S of segments. With M nodes of L ranks, one segment alone takes 2(L − 1) rounds of b/SL inside
/// and 2(M − 1) of b/SLM between. Each of the other S − 1 segments adds a rank's messages of one round: 2(L − 1) inside
/// or 2(M − 1) between, whichever take longer.
std::int64_t hierarchical_pipelined_segments(double bytes, double segment_bytes, const RankLayout& layout) {
  const Rank n = layout.ranks();
  const Rank nodes = n / (layout.is_hierarchical() ? layout.ranks_per_node() : 1);
  // Rounds with messages between nodes dominate; this is the number of bytes that a rank sends in such a round.
  const double between = 2.0 * (nodes - 1) / n * bytes;
  return segment_bytes > 0 ? segment_count(bytes, segment_bytes, 0, layout.between)
                           : segment_count(between, 0, 2.0 * (nodes - 1), slowest_channel(layout));
}

}  // namespace

std::unique_ptr<BlockRounds> hierarchical_pipelined_all_reduce(const CollectiveRequest& request,
                                                               const RankLayout& layout) {
  const Rank each = layout.is_hierarchical() ? layout.ranks_per_node() : 1;
  const double bytes = request.bytes.front();
  return std::make_unique<HierarchicalPipelined>(layout.ranks() / each, each, bytes,
                                                 hierarchical_pipelined_segments(bytes, request.segment_bytes, layout));
}

}  // namespace dadsim::collectives
