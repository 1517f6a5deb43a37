#include "collectives/fold.hpp"

namespace dadsim::collectives {

FoldedRounds::FoldedRounds(Rank ranks, BlockSizes sizes)
    : BlockRounds(ranks, std::move(sizes)),
      power_(power_of_two_within(ranks)),
      rest_(ranks - power_),
      log2_power_(ceil_log2(power_)) {}

void FoldedRounds::sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const {
  const bool paired = pairs_up(rank);
  const std::int64_t exchange = rest_ > 0 ? round - 1 : round;
  if (exchange < 0) {
    if (!paired || !sits_out(rank)) return;
    out.push_back(folded(rank));
    out.back().peer = rank + 1;
  } else if (exchange >= exchanges_) {
    if (!paired || sits_out(rank)) return;
    out.push_back(unfolded(rank - 1));
    out.back().peer = rank - 1;
  } else {
    if (paired && sits_out(rank)) return;
    out.push_back(exchanged(index_of(rank), exchange));
    out.back().peer = rank_of(out.back().peer);
  }
}

void FoldedRounds::received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const {
  const bool paired = pairs_up(rank);
  const std::int64_t exchange = rest_ > 0 ? round - 1 : round;
  if (exchange < 0) {
    if (!paired || sits_out(rank)) return;
    out.push_back(folded(rank - 1));
    out.back().peer = rank - 1;
  } else if (exchange >= exchanges_) {
    if (!paired || !sits_out(rank)) return;
    out.push_back(unfolded(rank));
    out.back().peer = rank + 1;
  } else {
    if (paired && sits_out(rank)) return;
    const Rank partner = exchanged(index_of(rank), exchange).peer;
    out.push_back(exchanged(partner, exchange));
    out.back().peer = rank_of(partner);
  }
}

}  // namespace dadsim::collectives
