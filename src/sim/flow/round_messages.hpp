#pragma once

#include <cstdint>
#include <vector>

#include "collectives/rounds.hpp"

// How many messages rounds come to.

namespace dadsim::sim {

std::vector<collectives::Rank> all_ranks(const collectives::Rounds& rounds);

/// The longest phase of rounds that are alike.
collectives::RoundPhase longest_uniform(const collectives::Rounds& rounds);

/// What these ranks send in a round.
double messages_of_round(const collectives::Rounds& rounds, std::int64_t round,
                         const std::vector<collectives::Rank>& senders);

/// What they send in all; counted no further than above `most`.
double messages_of(const collectives::Rounds& rounds, const std::vector<collectives::Rank>& senders, double most);

}  // namespace dadsim::sim
