#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// Calls `visit(path, transfer)` for every message of a round, sender by sender; with `stride`, for every `stride`-th
/// sender only. `hosts`: hosts of the ranks.
template <class Visit>
void for_each_path(const collectives::Rounds& rounds, std::int64_t round, const std::vector<simgrid::s4u::Host*>& hosts,
                   Interconnect& network, const Visit& visit, collectives::Rank stride = 1) {
  std::vector<collectives::Transfer> transfers;
  for (collectives::Rank rank = 0; rank < rounds.ranks(); rank += stride) {
    transfers.clear();
    rounds.sends(rank, round, transfers);
    simgrid::s4u::Host* from = hosts[static_cast<std::size_t>(rank)];
    for (const collectives::Transfer& transfer : transfers) {
      visit(network[network.path(from, hosts[static_cast<std::size_t>(transfer.peer)])], transfer);
    }
  }
}

/// Calls `visit(round, times)` for each different round; for equal rounds of a phase, for the first of them.
template <class Visit>
void for_each_different_round(const collectives::Rounds& rounds, const Visit& visit) {
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    const std::int64_t times = phase.uniform ? phase.rounds : 1;
    for (std::int64_t i = 0; i < phase.rounds; i += times) visit(phase.first + i, times);
  }
}

}  // namespace dadsim::sim
