#include "sim/step/closed_form.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "collectives/closed_form.hpp"
#include "sim/step/round_paths.hpp"

namespace dadsim::sim {

double closed_form_of(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
                      Interconnect& network) {
  double rate = std::numeric_limits<double>::infinity();
  std::map<std::int64_t, double> latencies;
  for_each_different_round(rounds, [&](std::int64_t round, std::int64_t) {
    // Finds the longest path of the round's messages, and the rate of the slowest message of all.
    double& latency = latencies[round];
    for_each_path(rounds, round, hosts, network, [&](const Path& path, const collectives::Transfer& transfer) {
      const PathUse::Cost cost = path.use.cost(transfer.bytes, rounds.protocol(), rounds.post_seconds());
      latency = std::max(latency, path.latency + cost.overhead);
      if (!(cost.wire_bytes > 0)) return;
      rate = std::min(
          {rate, path.connection_rate, path.use.payload_rate / path.use.efficiency * transfer.bytes / cost.wire_bytes});
    });
  });
  return closed_form_seconds(
      rounds, [&](std::int64_t round) { return latencies.at(round); }, rate);
}

double software_of(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
                   Interconnect& network) {
  // Uses an odd stride, which reaches all ranks of a node.
  constexpr collectives::Rank kSenders = 256;  // least number of senders examined
  std::map<std::int64_t, double> software;
  double most = 0;
  for_each_different_round(rounds, [&](std::int64_t round, std::int64_t) {
    double& of_round = software[round];
    const auto visit = [&](const Path& path, const collectives::Transfer& transfer) {
      of_round = std::max(of_round, path.use.software_of(transfer.bytes, rounds.protocol(), rounds.post_seconds()));
    };
    for_each_path(rounds, round, hosts, network, visit, rounds.ranks() / kSenders | 1);
    most = std::max(most, of_round);
  });
  const auto of_round = [&](std::int64_t round) { return software.at(round) > 0 ? software.at(round) : most; };
  return closed_form_seconds(rounds, of_round, std::numeric_limits<double>::infinity()) - rounds.lost_seconds();
}

}  // namespace dadsim::sim
