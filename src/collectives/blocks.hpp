#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Sizes of the blocks that a collective moves: one size for all, or one per block.
class BlockSizes {
 public:
  BlockSizes(std::int64_t blocks, double each) : blocks_(blocks), each_(each) {}
  /// Takes one size per block; equal sizes are stored as a single one.
  explicit BlockSizes(const std::vector<double>& bytes);

  std::int64_t count() const { return blocks_; }
  bool equal() const { return before_.empty(); }
  /// Returns the bytes of `blocks` consecutive blocks from `first` on, cyclically.
  double run(std::int64_t first, std::int64_t blocks) const;
  double largest() const { return each_; }
  double total() const { return run(0, blocks_); }

 private:
  std::int64_t blocks_ = 0;
  double each_ = 0;  ///< size of each block; the largest if they differ
  std::vector<double>
      before_;  ///< bytes of all blocks before block i, count() + 1 values; empty if all blocks have one size
};

/// Consecutive blocks, cyclically, in transit between a rank and a peer.
struct BlockParcel {
  Rank peer = 0;
  std::int64_t first = 0;    ///< number of the first block
  std::int64_t blocks = 1;   ///< number of blocks
  bool reduce = false;       ///< true: the receiver adds the blocks to its own; false: they replace its own
  double weight = 1;         ///< bytes on the wire per byte of the blocks; not 1 if a switch sums and multicasts
  std::int32_t channel = 0;  ///< see Transfer::channel
  bool operator==(const BlockParcel&) const = default;
};

/// Rounds with the blocks of each message, so that tests can carry out a collective on data and check its result. The
/// blocks, by kind:
///   all_reduce, broadcast    parts of the vector (as many as the algorithm cuts it into)
///   reduce_scatter           block b is the result of rank origin(b)
///   scatter                  block r is the result of rank r
///   all_gather, gather       block b is the input of rank origin(b)
///   all_to_all               block s·N + d goes from rank s to rank d
///   neighbour_exchange       block r goes from rank r to its neighbours
class BlockRounds : public Rounds {
 public:
  Rank ranks() const final { return ranks_; }
  void sends(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override;
  void receives(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override;
  void lane_sends(Rank rank, Rank lane, std::int64_t round, std::vector<Transfer>& out) const override;
  void lane_receives(Rank rank, Rank lane, std::int64_t round, std::vector<Transfer>& out) const override;
  /// Returns one phase of all rounds; not uniform if there are several.
  std::vector<RoundPhase> phases() const override;

  /// Append the parcels that `rank` sends, or receives. Parcels of the same peer and channel are adjacent, and form one
  /// message.
  virtual void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const = 0;
  virtual void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const = 0;
  /// Append the parcels of one lane. By default a collective has one lane, with all parcels.
  virtual void sent_in_lane(Rank rank, Rank, std::int64_t round, std::vector<BlockParcel>& out) const {
    sent(rank, round, out);
  }
  virtual void received_in_lane(Rank rank, Rank, std::int64_t round, std::vector<BlockParcel>& out) const {
    received(rank, round, out);
  }

  virtual std::int64_t blocks() const { return sizes_.count(); }
  virtual double run_bytes(std::int64_t first, std::int64_t blocks) const { return sizes_.run(first, blocks); }
  virtual Rank origin(std::int64_t block) const { return static_cast<Rank>(block); }
  /// Returns the largest number of bytes that any rank sends, or that any rank receives, in `round`.
  virtual double busiest_bytes(std::int64_t round) const;

 protected:
  BlockRounds(Rank ranks, BlockSizes sizes) : ranks_(ranks), sizes_(std::move(sizes)) {}
  const BlockSizes& sizes() const { return sizes_; }
  /// Returns x modulo the number of ranks, for x ≥ −ranks.
  Rank wrap(std::int64_t x) const { return static_cast<Rank>((x + ranks_) % ranks_); }

 private:
  /// Combines parcels into messages. `by_channel`: false combines all parcels for a peer into one message.
  void to_transfers(const std::vector<BlockParcel>& parcels, bool by_channel, std::vector<Transfer>& out) const;

  Rank ranks_;
  BlockSizes sizes_;
};

/// Rounds in lanes: a rank sends and receives the parcels of all its lanes, combined by peer.
class LaneRounds : public BlockRounds {
 public:
  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const final {
    const Rank count = lanes();
    for (Rank lane = 0; lane < count; ++lane) sent_in_lane(rank, lane, round, out);
    if (count > 1) std::ranges::stable_sort(out, {}, &BlockParcel::peer);
  }
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const final {
    const Rank count = lanes();
    for (Rank lane = 0; lane < count; ++lane) received_in_lane(rank, lane, round, out);
    if (count > 1) std::ranges::stable_sort(out, {}, &BlockParcel::peer);
  }

 protected:
  using BlockRounds::BlockRounds;
};

/// Returns ⌈log₂ n⌉ for n ≥ 1.
int ceil_log2(std::int64_t n);
/// Returns the largest power of two not above n, for n ≥ 1.
Rank power_of_two_within(Rank n);
bool is_power_of_two(Rank n);

}  // namespace dadsim::collectives
