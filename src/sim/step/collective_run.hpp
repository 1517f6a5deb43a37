#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/network/connection.hpp"
#include "sim/network/event_graph.hpp"
#include "sim/network/fifo.hpp"

namespace dadsim::sim {

/// A collective in progress, message by message: every rank goes through the rounds at its own pace.
class CollectiveRun {
 public:
  /// Callback when a rank has done its part. `date` may lie in the future.
  using Done = std::function<void(collectives::Rank rank, double date, EventGraph::Id cause, Outbox& outbox)>;

  /// Opens all connections that the collective needs. Its messages carry `serial` as their operation. Call while no
  /// other actor acts, since opening may have to wait for SimGrid.
  CollectiveRun(std::int32_t serial, const collectives::Rounds& rounds, Connections& connections, EventGraph& graph,
                Done done);

  /// Lets the rank take part from `date` on, possibly in the future. Call in an actor on its host.
  void begin(collectives::Rank rank, double date, EventGraph::Id cause, Outbox& outbox);
  /// Handles a message of this collective that arrives at `date`.
  void arrived(const Message& message, double date, const Holdup& holdup, Outbox& outbox);

 private:
  /// Messages that a rank has received, and expects, in a round.
  struct RunningRound {
    std::int32_t arrived = 0;
    std::int32_t expected = 0;  ///< number of messages that will arrive; known once the rank has entered the round
    double last = 0;            ///< date of the last arrival so far, seconds
    EventGraph::Id cause = EventGraph::kStart;

    void came(double date, EventGraph::Id event) {
      if (cause == EventGraph::kStart || date > last) {
        last = date;
        cause = event;
      }
    }
  };
  /// Ready notices of receivers in a round with a handshake.
  struct Meeting {
    struct Word {
      collectives::Rank from;
      double date;  ///< date from which the receiver is ready, seconds
      EventGraph::Id event;
    };
    std::vector<Word> words;                     ///< notices that arrived before the rank entered the round
    std::vector<collectives::Transfer> waiting;  ///< messages whose receivers are not ready yet
    double entered = 0;                          ///< date at which the rank entered the round, seconds
    EventGraph::Id cause = EventGraph::kStart;
  };
  /// State of a rank in one lane.
  struct RankState {
    bool begun = false;
    bool advancing = false;    ///< true: advance() is in progress in an actor that waits until SimGrid has taken its
                               ///< messages
    std::int64_t entered = 0;  ///< number of rounds entered
    std::int64_t through = 0;  ///< number of rounds completed
    double date = 0;           ///< date that the rank has reached, seconds
    EventGraph::Id cause = EventGraph::kStart;
    Fifo<RunningRound> rounds;                     ///< states of rounds, from round `through` on
    Fifo<Meeting> meetings;                        ///< ready notices of rounds, from round `through` on
    std::vector<collectives::Transfer> transfers;  ///< transfers of the round; a member to reuse its memory
  };

  void open_connections();
  RankState& state_of(collectives::Rank rank, collectives::Rank lane) {
    return states_[static_cast<std::size_t>(rank) * lanes_ + static_cast<std::size_t>(lane)];
  }
  void advance(collectives::Rank rank, collectives::Rank lane, Outbox& outbox);
  /// Ends a lane of the rank; with its last lane the rank is done.
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
  std::vector<RankState> states_;          ///< states of the ranks' lanes
  std::vector<collectives::Rank> to_end_;  ///< number of unfinished lanes, per rank
};

}  // namespace dadsim::sim
