#include "sim/flow/round_messages.hpp"

#include <numeric>

namespace dadsim::sim {

collectives::RoundPhase longest_uniform(const collectives::Rounds& rounds) {
  collectives::RoundPhase longest{0, 0, true};
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    if (phase.uniform && phase.rounds > longest.rounds) longest = phase;
  }
  return longest;
}

double messages_of_round(const collectives::Rounds& rounds, std::int64_t round,
                         const std::vector<collectives::Rank>& senders) {
  std::vector<collectives::Transfer> transfers;
  for (const collectives::Rank rank : senders) {
    for (collectives::Rank lane = 0; lane < rounds.lanes(); ++lane) rounds.lane_sends(rank, lane, round, transfers);
  }
  return static_cast<double>(transfers.size());
}

std::vector<collectives::Rank> all_ranks(const collectives::Rounds& rounds) {
  std::vector<collectives::Rank> ranks(static_cast<std::size_t>(rounds.ranks()));
  std::iota(ranks.begin(), ranks.end(), collectives::Rank{0});
  return ranks;
}

double messages_of(const collectives::Rounds& rounds, const std::vector<collectives::Rank>& senders, double most) {
  double all = 0;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    for (std::int64_t i = 0; i < (phase.uniform ? 1 : phase.rounds); ++i) {
      all +=
          (phase.uniform ? static_cast<double>(phase.rounds) : 1) * messages_of_round(rounds, phase.first + i, senders);
      if (all > most) return all;
    }
  }
  return all;
}

}  // namespace dadsim::sim
