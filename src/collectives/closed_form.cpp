#include "collectives/closed_form.hpp"

#include <algorithm>

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
  // A word before each message costs another latency; rounds in flight together share theirs.
  const Pace pace = rounds.pace();
  if (pace.ready != Pace::Ready::is_taken_for_granted) latency *= 2;
  latency /= static_cast<double>(pace.in_flight);
  double seconds = rounds.start_seconds();
  for (const RoundPhase& phase : rounds.phases()) {
    if (phase.alike) {
      seconds += static_cast<double>(phase.rounds) * (latency + busiest_bytes(rounds, phase.first) / bandwidth);
      continue;
    }
    for (std::int64_t round = phase.first; round < phase.first + phase.rounds; ++round) {
      seconds += latency + busiest_bytes(rounds, round) / bandwidth;
    }
  }
  return seconds;
}

}  // namespace dadsim::collectives
