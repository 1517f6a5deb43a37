#pragma once

#include "collectives/blocks.hpp"

namespace dadsim::collectives {

/// Algorithms in which ranks exchange with partners at power-of-two distances. Other numbers of ranks are folded as in
/// MPICH (R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, Int. J.
/// High Perform. Comput. Appl. 19 (2005)). P is the largest power of two up to N. In a first round each even rank below
/// 2(N − P) sends its data to the next odd rank; it then pauses until the last round, which returns its result. The P
/// active ranks are numbered by an index.
class FoldedRounds : public BlockRounds {
 public:
  std::int64_t count() const final { return exchanges_ + (rest_ > 0 ? 2 : 0); }
  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const final;
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const final;

 protected:
  /// The subclass must call set_exchanges() with the number of rounds among the P active ranks.
  FoldedRounds(Rank ranks, BlockSizes sizes);
  void set_exchanges(std::int64_t exchanges) { exchanges_ = exchanges; }

  /// Returns the parcel that `index` sends in `exchange`. The parcel's peer is an index, and sends to `index` in the
  /// same exchange.
  virtual BlockParcel exchanged(Rank index, std::int64_t exchange) const = 0;
  /// Return the parcels that an even rank sends to its odd partner in the first round, and receives in the last. The
  /// caller sets the peer.
  virtual BlockParcel folded(Rank even) const = 0;
  virtual BlockParcel unfolded(Rank even) const = 0;

  Rank power() const { return power_; }
  int log2_power() const { return log2_power_; }
  /// Returns the first rank that `index` represents (the even partner, if there is one). Indices a … b − 1 represent
  /// ranks first_rank(a) … first_rank(b) − 1.
  Rank first_rank(Rank index) const { return index <= rest_ ? 2 * index : index + rest_; }

 private:
  Rank index_of(Rank rank) const { return rank < 2 * rest_ ? rank / 2 : rank - rest_; }
  Rank rank_of(Rank index) const { return index < rest_ ? 2 * index + 1 : index + rest_; }
  bool pairs_up(Rank rank) const { return rank < 2 * rest_; }
  static bool sits_out(Rank rank) { return rank % 2 == 0; }

  Rank power_;
  Rank rest_;
  int log2_power_;
  std::int64_t exchanges_ = 0;
};

}  // namespace dadsim::collectives
