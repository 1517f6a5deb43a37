#include "sim/step/closed_form.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "collectives/closed_form.hpp"

namespace dadsim::sim {

double closed_form_of(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
                      Interconnect& network) {
  double rate = std::numeric_limits<double>::infinity();
  std::vector<collectives::Transfer> transfers;
  // The longest way that a message of the round has; and what the slowest of all carries.
  const auto latency_of = [&](std::int64_t round) {
    double latency = 0;
    for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
      transfers.clear();
      rounds.sends(rank, round, transfers);
      for (const collectives::Transfer& transfer : transfers) {
        const Path& path = network[network.path(hosts[static_cast<std::size_t>(rank)],
                                                hosts[static_cast<std::size_t>(transfer.peer)])];
        const PathUse::Cost cost = path.use.cost(transfer.bytes, rounds.protocol());
        latency = std::max(latency, path.latency + cost.overhead);
        if (!(cost.wire_bytes > 0)) continue;
        rate = std::min({rate, path.connection_rate,
                         path.use.payload_rate / path.use.efficiency * transfer.bytes / cost.wire_bytes});
      }
    }
    return latency;
  };
  std::map<std::int64_t, double> latencies;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    for (std::int64_t i = 0; i < (phase.uniform ? 1 : phase.rounds); ++i) {
      latencies[phase.first + i] = latency_of(phase.first + i);
    }
  }
  return closed_form_seconds(
      rounds, [&](std::int64_t round) { return latencies.at(round); }, rate);
}

}  // namespace dadsim::sim
