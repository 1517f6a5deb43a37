#include "sim/step/collective_run.hpp"

#include <algorithm>
#include <utility>

namespace dadsim::sim {

CollectiveRun::CollectiveRun(std::int32_t serial, const collectives::Rounds& rounds, Connections& connections,
                             EventGraph& graph, Done done)
    : serial_(serial),
      rounds_(rounds),
      connections_(connections),
      graph_(graph),
      done_(std::move(done)),
      states_(static_cast<std::size_t>(rounds.ranks())) {
  open_connections();
}

void CollectiveRun::open_connections() {
  std::vector<collectives::Transfer> transfers;
  for (const collectives::RoundPhase& phase : rounds_.phases()) {
    const std::int64_t distinct = phase.alike ? 1 : phase.rounds;
    for (std::int64_t round = phase.first; round < phase.first + distinct; ++round) {
      for (collectives::Rank rank = 0; rank < rounds_.ranks(); ++rank) {
        transfers.clear();
        rounds_.sends(rank, round, transfers);
        for (const collectives::Transfer& transfer : transfers) connections_.open(rank, transfer.peer);
      }
    }
  }
}

void CollectiveRun::begin(collectives::Rank rank, double date, EventGraph::Id cause, Outbox& outbox) {
  State& state = states_[static_cast<std::size_t>(rank)];
  state.begun = true;
  state.date = date;
  state.cause = cause;
  advance(rank, outbox);
}

void CollectiveRun::arrived(const Message& message, double date, std::int32_t bottleneck, Outbox& outbox) {
  graph_.end(message.event, date);
  graph_.set_bottleneck(message.event, bottleneck);
  State& state = states_[static_cast<std::size_t>(message.to)];
  const auto index = static_cast<std::size_t>(message.round - std::max<std::int64_t>(0, state.round));
  state.rounds.extend(index + 1);
  Round& round = state.rounds[index];
  ++round.arrived;
  if (round.cause == EventGraph::kStart || date > round.last) {
    round.last = date;
    round.cause = message.event;
  }
  if (state.begun && message.round == state.round && round.arrived >= state.expected) advance(message.to, outbox);
}

void CollectiveRun::advance(collectives::Rank rank, Outbox& outbox) {
  State& state = states_[static_cast<std::size_t>(rank)];
  if (state.advancing) return;  // whoever is at it will see what has come
  state.advancing = true;
  std::vector<collectives::Transfer>& transfers = state.transfers;
  while (state.round < rounds_.count()) {
    if (state.round >= 0) {
      if (state.expected > 0) {
        if (state.rounds.empty() || state.rounds.front().arrived < state.expected) break;
        const Round& round = state.rounds.front();
        if (round.last > state.date) {
          state.date = round.last;
          state.cause = round.cause;
        }
      }
      if (!state.rounds.empty()) state.rounds.pop_front();
    }
    if (++state.round == rounds_.count()) {
      done_(rank, state.date, state.cause, outbox);
      break;
    }
    transfers.clear();
    rounds_.receives(rank, state.round, transfers);
    state.expected = static_cast<std::int32_t>(transfers.size());
    if (connections_.rendezvous()) {
      for (const collectives::Transfer& transfer : transfers) connections_.post(transfer.peer, rank, state.date);
    }
    transfers.clear();
    rounds_.sends(rank, state.round, transfers);
    for (const collectives::Transfer& transfer : transfers) {
      connections_.send({.operation = serial_,
                         .round = static_cast<std::int32_t>(state.round),
                         .from = rank,
                         .to = transfer.peer,
                         .bytes = transfer.bytes,
                         .ready = state.date},
                        graph_, state.cause, outbox);
    }
  }
  state.advancing = false;
}

}  // namespace dadsim::sim
