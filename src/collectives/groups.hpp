#pragma once

#include <memory>
#include <vector>

#include "collectives/rounds.hpp"

namespace dadsim::collectives {

/// One of several simultaneous collectives, each among separate ranks.
struct RankGroup {
  std::shared_ptr<const Rounds> rounds;  ///< rounds for the size of the group; equal groups may share them
  std::vector<Rank> ranks;               ///< the group's ranks, as numbers among all ranks
  std::size_t size() const { return ranks.size(); }
};

/// Combines all groups into one collective over `ranks` ranks: its round i consists of round i of each group. Ranks in
/// no group send and receive nothing. No rank may be in two groups.
std::unique_ptr<Rounds> in_groups(std::vector<RankGroup> groups, Rank ranks);

/// Returns the rounds of one message from rank 0 to rank 1.
std::unique_ptr<Rounds> one_message(double bytes);

}  // namespace dadsim::collectives
