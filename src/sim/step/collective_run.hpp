#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/network/connection.hpp"
#include "sim/network/event_graph.hpp"
#include "sim/network/fifo.hpp"

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
  void arrived(const Message& message, double date, const Holdup& holdup, Outbox& outbox);

 private:
  /// What a rank got in a round, and what it waits for there.
  struct RunningRound {
    std::int32_t arrived = 0;
    std::int32_t expected = 0;  ///< messages that arrive; known when it has entered
    double last = 0;            ///< seconds
    EventGraph::Id cause = EventGraph::kStart;

    void came(double date, EventGraph::Id event) {
      if (cause == EventGraph::kStart || date > last) {
        last = date;
        cause = event;
      }
    }
  };
  /// The words of receivers in a round, where they give any.
  struct Meeting {
    struct Word {
      collectives::Rank from;
      double date;  ///< seconds
      EventGraph::Id event;
    };
    std::vector<Word> words;                     ///< that came before the rank had entered the round
    std::vector<collectives::Transfer> waiting;  ///< messages whose receivers have not said that they are ready
    double entered = 0;                          ///< seconds
    EventGraph::Id cause = EventGraph::kStart;
  };
  /// Of a rank in one lane.
  struct RankState {
    bool begun = false;
    bool advancing = false;    ///< by an actor that stands still while SimGrid takes its messages
    std::int64_t entered = 0;  ///< rounds
    std::int64_t through = 0;  ///< rounds: those before this one are over
    double date = 0;           ///< seconds: its own progress
    EventGraph::Id cause = EventGraph::kStart;
    Fifo<RunningRound> rounds;                     ///< from `through` on
    Fifo<Meeting> meetings;                        ///< from `through` on, where receivers say that they are ready
    std::vector<collectives::Transfer> transfers;  ///< of the round; kept for its memory
  };

  void open_connections();
  RankState& state_of(collectives::Rank rank, collectives::Rank lane) {
    return states_[static_cast<std::size_t>(rank) * lanes_ + static_cast<std::size_t>(lane)];
  }
  void advance(collectives::Rank rank, collectives::Rank lane, Outbox& outbox);
  /// A lane of the rank is through: if it was the last one, the rank is done.
  void finish(collectives::Rank rank, Outbox& outbox);
  bool says_ready() const;
  bool over(RankState& state) const;
  bool may_enter(const RankState& state) const;
  void enter(collectives::Rank rank, collectives::Rank lane, RankState& state, Outbox& outbox);
  void meet(collectives::Rank rank, RankState& state, std::int64_t round, Outbox& outbox);
  void heard(const Meeting::Word& word, collectives::Rank rank, std::int64_t round, Outbox& outbox);
  void send(collectives::Rank rank, const collectives::Transfer& transfer, std::int64_t round, double date,
            EventGraph::Id cause, Outbox& outbox);
  void hand_over(const Message& message, EventGraph::Id cause, Outbox& outbox);

  std::int32_t serial_;
  const collectives::Rounds& rounds_;
  Connections& connections_;
  EventGraph& graph_;
  collectives::Pace pace_;
  Done done_;
  std::size_t lanes_;
  std::vector<RankState> states_;          ///< per rank and lane
  std::vector<collectives::Rank> to_end_;  ///< per rank: lanes that are not through
};

}  // namespace dadsim::sim
