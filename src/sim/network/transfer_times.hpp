#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/network/max_plus_rounds.hpp"

namespace dadsim::sim {

/// What the transfers of a collective took that was followed message by message: per connection and round.
class TransferTimes {
 public:
  /// Of another collective.
  void forget() { of_connection_.clear(); }
  /// `round`: rounds · lanes + lane, as they were carried out; `seconds` of a transfer of the connection in it.
  void add(std::int32_t connection, std::int64_t round, double seconds);
  /// No more will come.
  void sort();
  /// In the mean of the rounds from `from` to before `until`, in a lane.
  double mean(std::int32_t connection, std::int64_t from, std::int64_t until, collectives::Rank lanes,
              collectives::Rank lane) const;

 private:
  struct Duration {
    std::int64_t round;
    double seconds;
  };
  std::vector<std::vector<Duration>> of_connection_;
};

/// Every message of every rank, and what it took: `message(rank, lane, transfer, from, until)` in the rounds from
/// `from` to before `until`, which are alike. Puts the rounds into `solved`.
void describe_rounds(
    const collectives::Rounds& rounds,
    const std::function<MaxPlusRounds::Message(collectives::Rank, collectives::Rank, const collectives::Transfer&,
                                               std::int64_t from, std::int64_t until)>& message,
    MaxPlusRounds& solved);

}  // namespace dadsim::sim
