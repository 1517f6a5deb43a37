#include "sim/step/framework_costs.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "collectives/traffic.hpp"

namespace dadsim::sim {
namespace {

/// The slowest and the quickest path of a rank's messages, byte/s.
struct FrameworkWays {
  double slowest = std::numeric_limits<double>::infinity(), quickest = 0;
  void add(double rate) {
    slowest = std::min(slowest, rate);
    quickest = std::max(quickest, rate);
  }
  /// Returns the share of software time hidden by transfers: all of it if paths are of similar speed. If a path is more
  /// than kAlike times quicker than another, software is busy with the quick path while the slow one is idle. Fitted to
  /// hivemind among peers of which some are close to each other (docs/validation.md).
  double hidden() const { return quickest > 0 ? std::min(1.0, kAlike * slowest / quickest) : 1; }

 private:
  static constexpr double kAlike = 3;
};

/// Returns the slowest and the quickest path of every rank.
std::vector<FrameworkWays> ways_of(const collectives::Rounds& rounds,
                                   const std::function<double(std::size_t from, std::size_t to)>& path_rate) {
  std::vector<FrameworkWays> ways(static_cast<std::size_t>(rounds.ranks()));
  std::vector<collectives::Transfer> transfers;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    for (std::int64_t i = 0; i < (phase.uniform ? 1 : phase.rounds); ++i) {
      for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
        transfers.clear();
        rounds.sends(rank, phase.first + i, transfers);
        for (const collectives::Transfer& transfer : transfers) {
          const auto from = static_cast<std::size_t>(rank);
          const auto to = static_cast<std::size_t>(transfer.peer);
          const double rate = path_rate(from, to);
          ways[from].add(rate);
          ways[to].add(rate);
        }
      }
    }
  }
  return ways;
}

}  // namespace

std::vector<FrameworkCost> framework_costs(const spec::FrameworkSpec& framework, const collectives::Rounds& rounds,
                                           const std::function<double(std::size_t rank)>& payload,
                                           const std::function<bool(std::size_t rank)>& is_server,
                                           const std::function<double(std::size_t from, std::size_t to)>& path_rate) {
  if (framework.none()) return {};
  const auto count = static_cast<std::size_t>(rounds.ranks());
  std::vector<double> sent(count);
  std::vector<double> received(count);
  collectives::add_traffic(rounds, sent, received);
  double taking_part = 0;
  for (std::size_t rank = 0; rank < count; ++rank) taking_part += sent[rank] + received[rank] > 0 ? 1 : 0;
  const double setup = framework.round + framework.per_client * taking_part;
  const auto seconds = [](double bytes, double rate) { return rate > 0 ? bytes / rate : 0; };
  const std::vector<FrameworkWays> ways = framework.streams ? ways_of(rounds, path_rate) : std::vector<FrameworkWays>();
  std::vector<FrameworkCost> costs(count);
  for (std::size_t rank = 0; rank < count; ++rank) {
    if (sent[rank] + received[rank] <= 0) continue;
    FrameworkCost& cost = costs[rank];
    const bool server = is_server(rank);
    double packs = seconds(sent[rank], server ? framework.server_serialise : framework.serialise);
    if (!server) packs += seconds(payload(rank), framework.copy);
    double unpacks = seconds(received[rank], server ? framework.server_deserialise : framework.deserialise);
    if (server) unpacks += seconds(received[rank], framework.aggregate);
    cost.before = setup + (framework.streams ? 0 : packs);
    cost.after = framework.streams ? 0 : unpacks;
    if (!framework.streams) continue;
    cost.beside = packs + unpacks;
    cost.after = (1 - ways[rank].hidden()) * cost.beside;
  }
  return costs;
}

}  // namespace dadsim::sim
