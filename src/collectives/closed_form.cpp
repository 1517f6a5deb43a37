#include "collectives/closed_form.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/blocks.hpp"

namespace dadsim::collectives {
namespace {

double busiest_bytes(const Rounds& rounds, std::int64_t round) {
  if (const auto* blocks = dynamic_cast<const BlockRounds*>(&rounds)) return blocks->busiest_bytes(round);
  double most = 0;
  std::vector<Transfer> messages;
  const auto total = [&] {
    double bytes = 0;
    for (const Transfer& message : messages) bytes += message.bytes;
    messages.clear();
    return bytes;
  };
  for (Rank rank = 0; rank < rounds.ranks(); ++rank) {
    rounds.sends(rank, round, messages);
    most = std::max(most, total());
    rounds.receives(rank, round, messages);
    most = std::max(most, total());
  }
  return most;
}

}  // namespace

double closed_form_seconds(const Rounds& rounds, double latency, double bandwidth) {
  return closed_form_seconds(
      rounds, [latency](std::int64_t) { return latency; }, bandwidth);
}

double closed_form_seconds(const Rounds& rounds, const std::function<double(std::int64_t)>& latency, double bandwidth) {
  // A ready message before each message doubles the latency; rounds in flight together share it.
  const Pace pace = rounds.pace();
  const double latencies = (pace.handshake != Pace::Handshake::eager ? 2 : 1) / static_cast<double>(pace.in_flight);
  double seconds = rounds.start_seconds();
  for (const RoundPhase& phase : rounds.phases()) {
    for (std::int64_t i = 0; i < (phase.uniform ? 1 : phase.rounds); ++i) {
      const std::int64_t round = phase.first + i;
      const double times = phase.uniform ? static_cast<double>(phase.rounds) : 1;
      seconds += times * latencies * latency(round);
      if (std::isfinite(bandwidth)) seconds += times * busiest_bytes(rounds, round) / bandwidth;
    }
  }
  return seconds;
}

}  // namespace dadsim::collectives
