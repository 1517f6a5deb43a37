#pragma once

#include <memory>
#include <vector>

#include "collectives/rounds.hpp"

namespace dadsim::collectives {

/// One of several simultaneous collectives, each among its own ranks.
struct RankGroup {
  std::shared_ptr<const Rounds> rounds;  ///< rounds for the size of the group; equal groups may share them
  std::vector<Rank> ranks;               ///< numbers among all ranks, in the order of the group
  std::size_t size() const { return ranks.size(); }
};

/// All of them as one, over `ranks` ranks: round i of it is round i of each. Ranks in no group send and receive
/// nothing. No rank may be in two groups.
std::unique_ptr<Rounds> in_groups(std::vector<RankGroup> groups, Rank ranks);

/// One message from rank 0 to rank 1, of two.
std::unique_ptr<Rounds> one_message(double bytes);

}  // namespace dadsim::collectives
