#include "sim/network/transfer_times.hpp"

#include <algorithm>

namespace dadsim::sim {

void TransferTimes::add(std::int32_t connection, std::int64_t round, double seconds) {
  const auto number = static_cast<std::size_t>(connection);
  if (number >= of_connection_.size()) of_connection_.resize(number + 1);
  of_connection_[number].push_back({round, seconds});
}

void TransferTimes::sort() {
  for (std::vector<Duration>& all : of_connection_) std::ranges::stable_sort(all, {}, &Duration::round);
}

double TransferTimes::mean(std::int32_t connection, std::int64_t from, std::int64_t until, collectives::Rank lanes,
                           collectives::Rank lane) const {
  if (static_cast<std::size_t>(connection) >= of_connection_.size()) return 0;
  const std::vector<Duration>& all = of_connection_[static_cast<std::size_t>(connection)];
  double seconds = 0;
  std::int64_t count = 0;
  for (auto one = std::ranges::lower_bound(all, from * lanes, {}, &Duration::round);
       one != all.end() && one->round < until * lanes; ++one) {
    if (one->round % lanes != lane) continue;
    seconds += one->seconds;
    ++count;
  }
  return count > 0 ? seconds / static_cast<double>(count) : 0;
}

void describe_rounds(
    const collectives::Rounds& rounds,
    const std::function<MaxPlusRounds::Message(collectives::Rank, collectives::Rank, const collectives::Transfer&,
                                               std::int64_t from, std::int64_t until)>& message,
    MaxPlusRounds& solved) {
  std::vector<collectives::Transfer> transfers;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    const std::int64_t alike = phase.uniform ? phase.rounds : 1;
    for (std::int64_t i = 0; i < phase.rounds; i += alike) {
      solved.add_round(alike);
      const std::int64_t round = phase.first + i;
      for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
        for (collectives::Rank lane = 0; lane < rounds.lanes(); ++lane) {
          transfers.clear();
          rounds.lane_sends(rank, lane, round, transfers);
          for (const collectives::Transfer& transfer : transfers) {
            solved.add(rank * rounds.lanes() + lane, transfer.peer * rounds.lanes() + lane, transfer.channel,
                       message(rank, lane, transfer, round, round + alike));
          }
        }
      }
    }
  }
}

}  // namespace dadsim::sim
