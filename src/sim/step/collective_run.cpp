#include "sim/step/collective_run.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace dadsim::sim {
namespace {

/// Encodes a receiver's ready notice for a round as the round of a message, or decodes it.
std::int32_t word_of(std::int64_t round) { return static_cast<std::int32_t>(-1 - round); }

}  // namespace

CollectiveRun::CollectiveRun(std::int32_t serial, const collectives::Rounds& rounds, Connections& connections,
                             EventGraph& graph, Done done)
    : serial_(serial),
      rounds_(rounds),
      connections_(connections),
      graph_(graph),
      pace_(rounds.pace()),
      done_(std::move(done)),
      lanes_(static_cast<std::size_t>(rounds.lanes())),
      states_(static_cast<std::size_t>(rounds.ranks()) * lanes_),
      to_end_(static_cast<std::size_t>(rounds.ranks()), rounds.lanes()) {
  if (lanes_ > 1 && says_ready()) throw std::logic_error("rendezvous works with one lane only");
  open_connections();
}

void CollectiveRun::open_connections() {
  std::vector<collectives::Transfer> transfers;
  for (const collectives::RoundPhase& phase : rounds_.phases()) {
    const std::int64_t distinct = phase.uniform ? 1 : phase.rounds;
    for (std::int64_t round = phase.first; round < phase.first + distinct; ++round) {
      for (collectives::Rank rank = 0; rank < rounds_.ranks(); ++rank) {
        transfers.clear();
        for (collectives::Rank lane = 0; lane < rounds_.lanes(); ++lane) {
          rounds_.lane_sends(rank, lane, round, transfers);
        }
        for (const collectives::Transfer& transfer : transfers) {
          connections_.open(rank, transfer.peer, transfer.channel);
          if (says_ready()) connections_.open(transfer.peer, rank);
        }
      }
    }
  }
}

void CollectiveRun::begin(collectives::Rank rank, double date, EventGraph::Id cause, Outbox& outbox) {
  if (const double start = rounds_.start_seconds(); start > 0) {
    cause = graph_.add_start(rank, date, date + start, rounds_.lost_seconds(), cause);
    date += start;
  }
  for (collectives::Rank lane = 0; lane < rounds_.lanes(); ++lane) {
    RankState& state = state_of(rank, lane);
    state.begun = true;
    state.date = date;
    state.cause = cause;
  }
  for (collectives::Rank lane = 0; lane < rounds_.lanes(); ++lane) advance(rank, lane, outbox);
}

void CollectiveRun::arrived(const Message& message, double date, const Holdup& holdup, Outbox& outbox) {
  graph_.end(message.event, date);
  graph_.set_bottleneck(message.event, holdup.bottleneck);
  if (holdup.queue >= 0) graph_.set_queueing(message.event, holdup.queue, holdup.queueing);
  if (message.round < 0) {
    heard({message.from, date, message.event}, message.to, word_of(message.round), outbox);
    return;
  }
  const auto lane = static_cast<collectives::Rank>(message.round % rounds_.lanes());
  RankState& state = state_of(message.to, lane);
  const auto index = static_cast<std::size_t>(message.round / rounds_.lanes() - state.through);
  state.rounds.extend(index + 1);
  RunningRound& round = state.rounds[index];
  ++round.arrived;
  round.came(date, message.event);
  if (state.begun && index == 0) advance(message.to, lane, outbox);
}

bool CollectiveRun::says_ready() const { return pace_.handshake != collectives::Pace::Handshake::eager; }

/// Returns whether the rank's first open round is over.
bool CollectiveRun::over(RankState& state) const {
  return state.rounds.front().arrived >= state.rounds.front().expected &&
         (!says_ready() || state.meetings.front().waiting.empty());
}

bool CollectiveRun::may_enter(const RankState& state) const {
  const bool part_begins = pace_.part > 0 && state.entered % pace_.part == 0;
  return state.entered < state.through + (part_begins ? 1 : pace_.in_flight);
}

void CollectiveRun::finish(collectives::Rank rank, Outbox& outbox) {
  if (--to_end_[static_cast<std::size_t>(rank)] > 0) return;
  const RankState* last = &state_of(rank, 0);
  for (collectives::Rank lane = 1; lane < rounds_.lanes(); ++lane) {
    if (const RankState& state = state_of(rank, lane); state.date > last->date) last = &state;
  }
  done_(rank, last->date, last->cause, outbox);
}

void CollectiveRun::advance(collectives::Rank rank, collectives::Rank lane, Outbox& outbox) {
  RankState& state = state_of(rank, lane);
  if (state.advancing) return;  // returns, because the call in progress will use the new state
  state.advancing = true;
  const std::int64_t count = rounds_.count();
  while (state.through < count) {
    if (state.through < state.entered && over(state)) {
      const RunningRound& round = state.rounds.front();
      if (round.cause != EventGraph::kStart && round.last > state.date) {
        state.date = round.last;
        state.cause = round.cause;
      }
      state.rounds.pop_front();
      if (says_ready()) state.meetings.pop_front();
      ++state.through;
    } else if (state.entered < count && may_enter(state)) {
      enter(rank, lane, state, outbox);
    } else {
      break;
    }
  }
  state.advancing = false;
  if (state.through == count) finish(rank, outbox);
}

void CollectiveRun::enter(collectives::Rank rank, collectives::Rank lane, RankState& state, Outbox& outbox) {
  const std::int64_t round = state.entered++;
  std::vector<collectives::Transfer>& transfers = state.transfers;
  transfers.clear();
  rounds_.lane_receives(rank, lane, round, transfers);
  const auto index = static_cast<std::size_t>(round - state.through);
  state.rounds.extend(index + 1);
  state.rounds[index].expected = static_cast<std::int32_t>(transfers.size());
  if (says_ready()) {
    meet(rank, state, round, outbox);
    return;
  }
  if (connections_.rendezvous()) {
    for (const collectives::Transfer& transfer : transfers) {
      connections_.post(transfer.peer, rank, state.date, transfer.channel);
    }
  }
  transfers.clear();
  rounds_.lane_sends(rank, lane, round, transfers);
  for (const collectives::Transfer& transfer : transfers) {
    send(rank, transfer, round * rounds_.lanes() + lane, state.date, state.cause, outbox);
  }
}

/// Enters a round with a handshake, in which receivers announce that they are ready. `state.transfers`: messages that
/// the rank receives.
void CollectiveRun::meet(collectives::Rank rank, RankState& state, std::int64_t round, Outbox& outbox) {
  const auto index = static_cast<std::size_t>(round - state.through);
  state.meetings.extend(index + 1);
  // Completes the state before a message is sent, because other actors may act while SimGrid takes the message.
  const std::vector<collectives::Transfer> received = state.transfers;
  std::vector<collectives::Transfer> leaving;
  state.transfers.clear();
  rounds_.sends(rank, round, state.transfers);
  Meeting& meeting = state.meetings[index];
  meeting.entered = state.date;
  meeting.cause = state.cause;
  for (const collectives::Transfer& transfer : state.transfers) {
    const auto word = std::ranges::find(meeting.words, transfer.peer, &Meeting::Word::from);
    (word == meeting.words.end() ? meeting.waiting : leaving).push_back(transfer);
  }
  const std::vector<Meeting::Word> words = std::move(meeting.words);
  const auto say_ready = [&] {
    for (const collectives::Transfer& transfer : received) {
      hand_over({.operation = serial_, .round = word_of(round), .from = rank, .to = transfer.peer, .ready = state.date},
                state.cause, outbox);
    }
  };
  if (pace_.handshake == collectives::Pace::Handshake::rendezvous) say_ready();
  for (const collectives::Transfer& transfer : leaving) {
    const Meeting::Word& word = *std::ranges::find(words, transfer.peer, &Meeting::Word::from);
    const bool waited = word.date > state.date;
    if (waited) state.rounds[index].came(word.date, word.event);
    send(rank, transfer, round, waited ? word.date : state.date, waited ? word.event : state.cause, outbox);
  }
  if (pace_.handshake == collectives::Pace::Handshake::rendezvous_after_sending) say_ready();
}

/// Handles a receiver's ready notice: messages that waited for it leave.
void CollectiveRun::heard(const Meeting::Word& word, collectives::Rank rank, std::int64_t round, Outbox& outbox) {
  RankState& state = state_of(rank, 0);
  const auto index = static_cast<std::size_t>(round - state.through);
  state.meetings.extend(index + 1);
  Meeting& meeting = state.meetings[index];
  if (round >= state.entered) {
    meeting.words.push_back(word);
    return;
  }
  const auto waits = std::ranges::find(meeting.waiting, word.from, &collectives::Transfer::peer);
  const collectives::Transfer transfer = *waits;
  meeting.waiting.erase(waits);
  const bool waited = word.date > meeting.entered;
  const double leaves = waited ? word.date : meeting.entered;
  const EventGraph::Id cause = waited ? word.event : meeting.cause;
  state.rounds[index].came(leaves, cause);
  send(rank, transfer, round, leaves, cause, outbox);
  advance(rank, 0, outbox);
}

void CollectiveRun::send(collectives::Rank rank, const collectives::Transfer& transfer, std::int64_t round, double date,
                         EventGraph::Id cause, Outbox& outbox) {
  hand_over({.operation = serial_,
             .round = static_cast<std::int32_t>(round),
             .from = rank,
             .to = transfer.peer,
             .channel = transfer.channel,
             .bytes = transfer.bytes,
             .protocol = rounds_.protocol(),
             .share = rounds_.lane_share(rank, transfer.peer),
             .post = rounds_.post_seconds(),
             .ready = date},
            cause, outbox);
}

/// Sends a message of the collective. With rendezvous, the network need not wait again if messages of the collective
/// announce ready receivers: every message, the notices included, then meets a receiver that is ready.
void CollectiveRun::hand_over(const Message& message, EventGraph::Id cause, Outbox& outbox) {
  if (says_ready() && connections_.rendezvous()) {
    connections_.post(message.from, message.to, -std::numeric_limits<double>::infinity(), message.channel);
  }
  connections_.send(message, graph_, cause, outbox);
}

}  // namespace dadsim::sim
