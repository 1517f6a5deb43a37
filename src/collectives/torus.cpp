// Torus: rings along every axis in both directions, over all links at once. N. Jain, Y. Sabharwal, Optimal bucket
// algorithms for large MPI collectives on torus interconnects, ICS 2010. The vector is cut into two parts per axis.
// Part 2a goes upwards and part 2a + 1 downwards, first along axis a, then along the following axes, cyclically. A
// reduce-scatter along each axis leaves a share of the part for the next axis. The all-gather takes the axes in reverse
// order.
#include <algorithm>
#include <numeric>
#include <set>

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

/// Places of ranks on a grid, and their numbers in the order of a lane. In this order the lane's first axis varies
/// slowest, so that ranks with equal places on its first axes are consecutive.
class LaneGrid {
 public:
  explicit LaneGrid(const std::vector<Rank>& sizes) {
    std::ranges::copy_if(sizes, std::back_inserter(sizes_), [](Rank size) { return size > 1; });
  }

  Rank axes() const { return static_cast<Rank>(sizes_.size()); }
  Rank lanes() const { return 2 * axes(); }
  Rank ranks() const { return std::accumulate(sizes_.begin(), sizes_.end(), Rank{1}, std::multiplies<>()); }
  Rank size(Rank axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
  /// Returns the `turn`-th axis of a lane.
  Rank axis(Rank lane, Rank turn) const { return (lane / 2 + turn) % axes(); }
  Rank place(Rank rank, Rank axis) const { return rank / stride(axis) % size(axis); }
  /// Returns the rank that is `by` places further along the axis.
  Rank moved(Rank rank, Rank axis, Rank by) const {
    const Rank here = place(rank, axis);
    return rank + ((here + by + size(axis)) % size(axis) - here) * stride(axis);
  }
  /// Returns a rank's number in the order of a lane, restricted to the lane's first `turns` axes.
  std::int64_t number(Rank lane, Rank rank, Rank turns) const {
    std::int64_t number = 0;
    for (Rank turn = 0; turn < turns; ++turn) {
      const Rank at = axis(lane, turn);
      number = number * size(at) + place(rank, at);
    }
    return number;
  }
  Rank rank_at(Rank lane, std::int64_t number) const {
    Rank rank = 0;
    for (Rank turn = axes(); turn-- > 0;) {
      const Rank at = axis(lane, turn);
      rank += static_cast<Rank>(number % size(at)) * stride(at);
      number /= size(at);
    }
    return rank;
  }

 private:
  Rank stride(Rank axis) const {
    return std::accumulate(sizes_.begin(), sizes_.begin() + axis, Rank{1}, std::multiplies<>());
  }

  std::vector<Rank> sizes_;  ///< ranks along each axis, at least two
};

/// Block c·N + i is lane c's part of the block of the i-th rank in the lane's order.
class TorusRounds final : public LaneRounds {
 public:
  /// `reduces`: begins with a reduce-scatter. `gathers`: ends with an all-gather.
  TorusRounds(LaneGrid grid, const BlockSizes& whole, bool reduces, bool gathers)
      : LaneRounds(grid.ranks(), in_lanes(grid, whole)), grid_(std::move(grid)), reduces_(reduces), gathers_(gathers) {
    for (Rank axis = 0; axis < grid_.axes(); ++axis) one_way_ += grid_.size(axis) - 1;
  }

  std::int64_t count() const override { return (reduces_ ? one_way_ : 0) + (gathers_ ? one_way_ : 0); }
  Rank lanes() const override { return grid_.lanes(); }

  void sent_in_lane(Rank rank, Rank lane, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const LaneStep step = step_of(lane, round);
    out.push_back(parcel(rank, lane, step, grid_.moved(rank, grid_.axis(lane, step.turn), way(lane))));
  }
  void received_in_lane(Rank rank, Rank lane, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const LaneStep step = step_of(lane, round);
    const Rank before = grid_.moved(rank, grid_.axis(lane, step.turn), -way(lane));
    out.push_back(parcel(before, lane, step, before));
  }

  /// A phase ends when any lane continues with its next axis.
  std::vector<RoundPhase> phases() const override {
    if (!sizes().equal()) return BlockRounds::phases();
    std::set<std::int64_t> ends;
    for (Rank lane = 0; lane < lanes(); ++lane) {
      for (std::int64_t round = 0; round < count(); ++round) {
        const LaneStep step = step_of(lane, round);
        if (step.left == 1) ends.insert(round + 1);
      }
    }
    std::vector<RoundPhase> phases;
    std::int64_t first = 0;
    for (const std::int64_t end : ends) {
      phases.push_back({first, end - first, true});
      first = end;
    }
    return phases;
  }

  double busiest_bytes(std::int64_t round) const override {
    if (!sizes().equal()) return BlockRounds::busiest_bytes(round);
    std::vector<BlockParcel> parcels;
    sent(0, round, parcels);
    double bytes = 0;
    for (const BlockParcel& parcel : parcels) bytes += run_bytes(parcel.first, parcel.blocks);
    return bytes;
  }

  Rank origin(std::int64_t block) const override {
    return grid_.rank_at(static_cast<Rank>(block / ranks()), block % ranks());
  }

 private:
  /// Progress of a lane in a round: at its `turn`-th axis, with `done` rounds along this axis completed and `left` to
  /// go.
  struct LaneStep {
    Rank turn = 0;
    std::int64_t done = 0, left = 0;
    bool reduces = false;
  };

  static BlockSizes in_lanes(const LaneGrid& grid, const BlockSizes& whole) {
    const Rank lanes = grid.lanes();
    if (whole.equal()) return {whole.count() * lanes, whole.largest() / lanes};
    std::vector<double> bytes;
    for (Rank lane = 0; lane < lanes; ++lane) {
      for (std::int64_t i = 0; i < whole.count(); ++i) bytes.push_back(whole.run(grid.rank_at(lane, i), 1) / lanes);
    }
    return BlockSizes(bytes);
  }

  static Rank way(Rank lane) { return lane % 2 == 0 ? 1 : -1; }

  LaneStep step_of(Rank lane, std::int64_t round) const {
    const bool reduces = reduces_ && round < one_way_;
    std::int64_t done = reduces_ && !reduces ? round - one_way_ : round;
    for (Rank i = 0; i < grid_.axes(); ++i) {
      const Rank turn = reduces ? i : grid_.axes() - 1 - i;
      const std::int64_t rounds = grid_.size(grid_.axis(lane, turn)) - 1;
      if (done < rounds) return {turn, done, rounds - done, reduces};
      done -= rounds;
    }
    return {};
  }

  /// Returns the parcel that `from` sends: the blocks of all ranks that share its places on the lane's earlier axes,
  /// and have one given place on the current axis. In a reduce-scatter the first place is the previous one, so that the
  /// receiver's own block comes last.
  BlockParcel parcel(Rank from, Rank lane, const LaneStep& step, Rank peer) const {
    const Rank axis = grid_.axis(lane, step.turn);
    const auto back = static_cast<Rank>(step.done) + (step.reduces ? 1 : 0);
    const Rank of = grid_.moved(from, axis, -way(lane) * (back % grid_.size(axis)));
    std::int64_t run = 1;
    for (Rank turn = step.turn + 1; turn < grid_.axes(); ++turn) run *= grid_.size(grid_.axis(lane, turn));
    const std::int64_t first = std::int64_t{lane} * ranks() + grid_.number(lane, of, step.turn + 1) * run;
    return {peer, first, run, step.reduces, 1, lane};
  }

  LaneGrid grid_;
  bool reduces_, gathers_;
  std::int64_t one_way_ = 0;  ///< rounds of one pass along all axes
};

std::unique_ptr<BlockRounds> torus(const RankLayout& layout, const BlockSizes& whole, bool reduces, bool gathers) {
  return std::make_unique<TorusRounds>(LaneGrid(layout.torus), whole, reduces, gathers);
}

}  // namespace

std::vector<Rank> grid_within(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& places) {
  std::vector<std::vector<std::int64_t>> taken;  // places taken on each axis, ascending
  std::int64_t stride = 1;
  std::size_t all = 1;
  for (const std::int64_t size : sizes) {
    std::set<std::int64_t> own;
    for (const std::int64_t place : places) own.insert(place / stride % size);
    taken.emplace_back(own.begin(), own.end());
    all *= own.size();
    stride *= size;
  }
  if (sizes.empty() || all != places.size()) return {};
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    std::int64_t place = 0;
    std::size_t left = rank;
    stride = 1;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      place += stride * taken[axis][left % taken[axis].size()];
      left /= taken[axis].size();
      stride *= sizes[axis];
    }
    if (place != places[rank]) return {};
  }
  std::vector<Rank> grid;
  for (const auto& of_axis : taken) grid.push_back(static_cast<Rank>(of_axis.size()));
  return grid;
}

std::unique_ptr<BlockRounds> torus_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return torus(layout, BlockSizes(n, request.bytes.front() / n), true, true);
}

std::unique_ptr<BlockRounds> torus_reduce_scatter(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return torus(layout, BlockSizes(n, request.bytes.front() / n), true, false);
}

std::unique_ptr<BlockRounds> torus_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  return torus(layout, one_block_per_rank(request, layout.ranks()), false, true);
}

}  // namespace dadsim::collectives
