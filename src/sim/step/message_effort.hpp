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

/// What it takes to simulate collectives message by message.
struct MessageEffort {
  /// SimGrid gives every actor a stack of its own, which is two areas of the process's memory; Linux grants 65,530
  /// (vm.max_map_count).
  static constexpr std::size_t kMostActors = 32000;

  double messages = 0;
  double seconds = 0;      ///< of a processor, estimated
  std::size_t actors = 0;  ///< one per rank and one per pair that exchanges messages; above kMostActors: not counted on
  std::size_t pairs = 0;   ///< of these
  bool fits() const { return actors <= kMostActors && pairs <= kMostConnections; }
};

/// No more than this, whoever sends them to whom.
MessageEffort most_effort(double messages, std::size_t ranks);

/// Adds it up.
class MessageEffortCount {
 public:
  explicit MessageEffortCount(std::size_t ranks) { effort_.actors = ranks; }
  /// `ranks`: which ones the ranks of the rounds are; empty: the same. All of it `times` times.
  void add(const collectives::Rounds& rounds, std::span<const collectives::Rank> ranks, double times);
  MessageEffort effort() const;

 private:
  MessageEffort effort_;
  std::unordered_set<std::uint64_t> pairs_;
  std::vector<std::int32_t> in_, out_;
  std::vector<collectives::Transfer> transfers_;
};

/// Of schedules whose algorithms are settled, as they are given, each `times[i]` times.
MessageEffort effort_of(std::span<const schedule::Schedule> schedules, std::span<const double> times,
                        const collectives::RankLayout& layout);

}  // namespace dadsim::sim
