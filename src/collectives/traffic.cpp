#include "collectives/traffic.hpp"

namespace dadsim::collectives {

void add_traffic(const Rounds& rounds, std::vector<double>& sent, std::vector<double>& received) {
  std::vector<Transfer> transfers;
  for (const RoundPhase& phase : rounds.phases()) {
    const std::int64_t distinct = phase.uniform ? 1 : phase.rounds;
    const auto times = static_cast<double>(phase.uniform ? phase.rounds : 1);
    for (std::int64_t round = phase.first; round < phase.first + distinct; ++round) {
      for (Rank rank = 0; rank < rounds.ranks(); ++rank) {
        transfers.clear();
        rounds.sends(rank, round, transfers);
        for (const Transfer& transfer : transfers) {
          sent[static_cast<std::size_t>(rank)] += times * transfer.bytes;
          received[static_cast<std::size_t>(transfer.peer)] += times * transfer.bytes;
        }
      }
    }
  }
}

}  // namespace dadsim::collectives
