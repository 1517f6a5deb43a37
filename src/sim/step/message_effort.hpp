#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "collectives/rounds.hpp"
#include "schedule/schedule.hpp"
#include "sim/network/connection.hpp"
#include "sim/step/collective_requests.hpp"

namespace dadsim::sim {

/// Effort to simulate collectives message by message.
struct MessageEffort {
  /// Largest number of actors. SimGrid gives every actor a separate stack, which takes two memory areas of the process;
  /// Linux grants 65,530 (vm.max_map_count).
  static constexpr std::size_t kMostActors = 32000;

  double messages = 0;
  double seconds = 0;      ///< estimated processor seconds
  std::size_t actors = 0;  ///< number of actors: one per rank, and one per pair that exchanges messages; counting stops
                           ///< above kMostActors
  std::size_t pairs = 0;   ///< number of pairs with an actor
  bool fits() const { return actors <= kMostActors && pairs <= kMostConnections; }
};

/// Returns an upper bound of the effort, for any senders and receivers.
MessageEffort most_effort(double messages, std::size_t ranks);

/// Sums the effort of collectives.
class MessageEffortCount {
 public:
  explicit MessageEffortCount(std::size_t ranks) { effort_.actors = ranks; }
  /// Adds rounds that occur `times` times. `ranks`: numbers of the rounds' ranks; empty: 0, 1, 2, …
  void add(const collectives::Rounds& rounds, std::span<const collectives::Rank> ranks, double times);
  MessageEffort effort() const;

 private:
  MessageEffort effort_;
  std::unordered_set<std::uint64_t> pairs_;
  std::vector<std::int32_t> in_, out_;
  std::vector<collectives::Transfer> transfers_;
};

/// Returns the effort of schedules whose algorithms are chosen, each `times[i]` times.
MessageEffort effort_of(std::span<const schedule::Schedule> schedules, std::span<const double> times,
                        const collectives::RankLayout& layout);

}  // namespace dadsim::sim
