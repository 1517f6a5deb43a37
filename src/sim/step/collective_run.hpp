#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/network/connection.hpp"
#include "sim/network/fifo.hpp"
#include "sim/step/event_graph.hpp"

namespace dadsim::sim {

/// A collective in progress, message by message: every rank goes through the rounds at its own pace.
class CollectiveRun {
 public:
  /// Called when a rank has done its part, at a date that may lie ahead.
  using Done = std::function<void(collectives::Rank rank, double date, EventGraph::Id cause, Outbox& outbox)>;

  /// `serial` is what its messages carry as their operation. Opens all connections that it needs: to be called where
  /// nothing else goes on, since whoever does so may have to wait for SimGrid.
  CollectiveRun(std::int32_t serial, const collectives::Rounds& rounds, Connections& connections, EventGraph& graph,
                Done done);

  /// The rank takes part from `date` on, which may lie ahead. To be called in an actor on its host.
  void begin(collectives::Rank rank, double date, EventGraph::Id cause, Outbox& outbox);
  /// A message of this collective will have arrived at `date`.
  void arrived(const Message& message, double date, std::int32_t bottleneck, Outbox& outbox);

 private:
  /// What a rank got in a round.
  struct Round {
    std::int32_t arrived = 0;
    double last = 0;  ///< seconds
    EventGraph::Id cause = EventGraph::kStart;
  };
  struct State {
    bool begun = false;
    bool advancing = false;     ///< by an actor that stands still while SimGrid takes its messages
    std::int64_t round = -1;    ///< where it is
    std::int32_t expected = 0;  ///< messages in this round
    double date = 0;            ///< seconds: its own progress
    EventGraph::Id cause = EventGraph::kStart;
    Fifo<Round> rounds;                            ///< from `round` on (from 0 before it has begun)
    std::vector<collectives::Transfer> transfers;  ///< of the round; kept for its memory
  };

  void open_connections();
  void advance(collectives::Rank rank, Outbox& outbox);

  std::int32_t serial_;
  const collectives::Rounds& rounds_;
  Connections& connections_;
  EventGraph& graph_;
  Done done_;
  std::vector<State> states_;  ///< per rank
};

}  // namespace dadsim::sim
