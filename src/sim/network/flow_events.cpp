#include "sim/network/flow_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "sim/network/round_messages.hpp"

namespace dadsim::sim {
namespace {

constexpr double kSameDate = 1e-12;      // seconds, as SimGrid is told to count events as one
constexpr double kAllCarriedOut = 2e5;   // messages up to which no round is left out
constexpr std::int64_t kFewRounds = 32;  // of those alike, carried out at first
constexpr double kSettled = 1e-3;        // of the whole time: what may come of rounds that do not all take the same

}  // namespace

bool FlowEvents::serves(const Interconnect& network) {
  return std::ranges::none_of(network.links(),
                              [](const NetworkLink& link) { return link.use.transport == spec::Transport::tcp; });
}

Refused FlowEvents::run(const collectives::Rounds& rounds, std::vector<double>& dates, const EventClasses* classes) {
  classes_ = classes;
  if (classes == nullptr) {
    followed_ = all_ranks(rounds);
    return follow(rounds, dates);
  }
  followed_ = classes->first;
  std::vector<double> of_classes;
  for (const collectives::Rank rank : followed_) of_classes.push_back(dates[static_cast<std::size_t>(rank)]);
  if (Refused refused = follow(rounds, of_classes)) return refused;
  for (std::size_t rank = 0; rank < dates.size(); ++rank) {
    dates[rank] = of_classes[static_cast<std::size_t>(classes->class_of[rank])];
  }
  return {};
}

Refused FlowEvents::follow(const collectives::Rounds& rounds, std::vector<double>& dates) {
  const collectives::RoundPhase phase = longest_uniform(rounds);
  const double all = messages_of(rounds, followed_, 1e3 * kMostMessages);
  const double each = phase.rounds > 0 ? messages_of_round(rounds, phase.first, followed_) : 0;
  const double begin = *std::ranges::max_element(dates);
  for (std::int64_t kept = all <= kAllCarriedOut ? phase.rounds : std::min(phase.rounds, kFewRounds);;
       kept = std::min(phase.rounds, 2 * kept)) {
    const std::int64_t left_out = phase.rounds - kept;
    if (all - static_cast<double>(left_out) * each > kMostMessages) {
      return FlowRefusal{fmt::format("{:.3g} messages are too many to follow each", all)};
    }
    count_ = rounds.count() - left_out;
    skip_from_ = phase.first + kept;
    skipped_ = left_out;
    marked_ = phase.first;
    marks_.assign(left_out > 0 ? static_cast<std::size_t>(kept) : 0, 0);
    std::vector<double> done = dates;
    events_.reserve(static_cast<std::size_t>(all - static_cast<double>(left_out) * each));
    carry_out(rounds, done);
    const double end = *std::ranges::max_element(done);
    if (left_out == 0) {
      add_loads();
      account(1);
      dates.swap(done);
      return {};
    }
    const auto each_took = [&](std::int64_t from, std::int64_t until) {
      return (marks_[static_cast<std::size_t>(until)] - marks_[static_cast<std::size_t>(from)]) /
             static_cast<double>(until - from);
    };
    const double late = each_took(kept / 2, kept - 1);
    const double early = each_took(kept / 4, kept / 2);
    const double more = late * static_cast<double>(left_out);
    if (std::abs(late - early) * static_cast<double>(left_out) > kSettled * (end - begin + more)) continue;
    account((end - begin + more) / (end - begin));
    for (double& date : done) date += more;
    dates.swap(done);
    // What the rounds left out carry.
    for (Connection& over : connections_) over.round = -1;
    for (const collectives::Rank rank : followed_) {
      for (collectives::Rank lane = 0; lane < lanes_; ++lane) {
        transfers_.clear();
        rounds.lane_sends(rank, lane, phase.first, transfers_);
        for (const collectives::Transfer& transfer : transfers_) {
          Connection& over = connections_[static_cast<std::size_t>(connection(rank, transfer.peer, transfer.channel))];
          if (std::exchange(over.round, lane) == lane) continue;
          carry(over, transfer.bytes, static_cast<double>(left_out));
        }
      }
    }
    add_loads();
    return {};
  }
}

void FlowEvents::carry_out(const collectives::Rounds& rounds, std::vector<double>& dates) {
  rounds_ = &rounds;
  lanes_ = rounds.lanes();
  pace_ = rounds.pace();
  fluid_ = {};
  connections_.clear();
  taken_.forget();
  to_.assign(classes_ == nullptr ? dates.size() : 0, {});
  of_class_.assign(classes_ == nullptr ? 0 : classes_->pairs.size(), -1);
  events_.clear();
  begins_ = {};
  serial_ = 0;
  now_ = *std::ranges::min_element(dates);
  states_.clear();
  states_.resize(dates.size() * static_cast<std::size_t>(lanes_));
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i].date = dates[i / static_cast<std::size_t>(lanes_)];
  for (std::size_t i = 0; i < states_.size(); ++i) advance(static_cast<std::int32_t>(i));
  for (;;) {
    const double next =
        std::min(begins_.empty() ? std::numeric_limits<double>::infinity() : begins_.top().date, fluid_.next());
    if (!std::isfinite(next)) break;
    now_ = std::max(now_, next);
    const double until = now_ + kSameDate;
    for (bool any = true; any;) {
      any = false;
      for (; !begins_.empty() && begins_.top().date <= until; any = true) {
        const std::int32_t connection = begins_.top().connection;
        begins_.pop();
        move(connection);
      }
      for (std::int32_t over = fluid_.end(until); over >= 0; over = fluid_.end(until), any = true) deliver(over);
    }
    fluid_.share(now_);
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].through < count_) throw std::logic_error("a rank waits for a message that nobody sends");
    double& date = dates[i / static_cast<std::size_t>(lanes_)];
    date = std::max(date, states_[i].date);
  }
}

/// As CollectiveRun::advance.
void FlowEvents::advance(std::int32_t of) {
  State& state = states_[static_cast<std::size_t>(of)];
  while (state.through < count_) {
    if (state.through < state.entered && state.rounds.front().over()) {
      const Round& round = state.rounds.front();
      if (round.cause != kStart && round.last > state.date) {
        state.date = round.last;
        state.cause = round.cause;
      }
      state.rounds.pop_front();
      ++state.through;
      continue;
    }
    const bool part_begins = pace_.part > 0 && numbered(state.entered) % pace_.part == 0;
    if (state.entered >= count_ || state.entered >= state.through + (part_begins ? 1 : pace_.in_flight)) return;
    enter(of, state);
  }
}

void FlowEvents::enter(std::int32_t of, State& state) {
  const std::int64_t round = state.entered++;
  const collectives::Rank rank = followed_[static_cast<std::size_t>(of / lanes_)];
  const collectives::Rank lane = of % lanes_;
  if (round >= marked_ && round - marked_ < std::ssize(marks_)) {
    double& mark = marks_[static_cast<std::size_t>(round - marked_)];
    mark = std::max(mark, state.date);
  }
  transfers_.clear();
  rounds_->lane_receives(rank, lane, numbered(round), transfers_);
  const auto index = static_cast<std::size_t>(round - state.through);
  state.rounds.extend(index + 1);
  state.rounds[index].expected = static_cast<std::int32_t>(transfers_.size());
  if (pace_.handshake != collectives::Pace::Handshake::eager) return meet(of, state, round);
  transfers_.clear();
  rounds_->lane_sends(rank, lane, numbered(round), transfers_);
  for (const collectives::Transfer& transfer : transfers_) send(of, transfer, round, state.date, state.cause);
}

/// As CollectiveRun::meet. `transfers_`: what the rank receives.
void FlowEvents::meet(std::int32_t of, State& state, std::int64_t round) {
  const std::vector<collectives::Transfer> received = transfers_;
  transfers_.clear();
  rounds_->sends(of, numbered(round), transfers_);
  Round& met_in = state.rounds[static_cast<std::size_t>(round - state.through)];
  Meeting& meeting = met_in.its_meeting();
  meeting.entered = state.date;
  meeting.entered_for = state.cause;
  const auto say_ready = [&] {
    for (const collectives::Transfer& transfer : received) {
      send(of, {transfer.peer, 0}, round, state.date, state.cause, true);
    }
  };
  if (pace_.handshake == collectives::Pace::Handshake::rendezvous) say_ready();
  for (const collectives::Transfer& transfer : transfers_) {
    const auto word = std::ranges::find(meeting.words, transfer.peer, &Meeting::Word::from);
    if (word == meeting.words.end()) {
      meeting.waiting.push_back(transfer);
      continue;
    }
    const bool waited = word->date > state.date;
    if (waited) met_in.came(word->date, word->event);
    send(of, transfer, round, waited ? word->date : state.date, waited ? word->event : state.cause);
  }
  meeting.words.clear();
  if (pace_.handshake == collectives::Pace::Handshake::rendezvous_after_sending) say_ready();
}

/// As CollectiveRun::heard.
void FlowEvents::heard(std::int32_t of, const Message& message, double date, collectives::Rank from) {
  State& state = states_[static_cast<std::size_t>(of)];
  const auto index = static_cast<std::size_t>(message.round - state.through);
  state.rounds.extend(index + 1);
  Round& met_in = state.rounds[index];
  Meeting& meeting = met_in.its_meeting();
  if (message.round >= state.entered) {
    meeting.words.push_back({from, date, message.event});
    return;
  }
  const auto waits = std::ranges::find(meeting.waiting, from, &collectives::Transfer::peer);
  const collectives::Transfer transfer = *waits;
  meeting.waiting.erase(waits);
  const bool waited = date > meeting.entered;
  const double leaves = waited ? date : meeting.entered;
  const std::int32_t cause = waited ? message.event : meeting.entered_for;
  met_in.came(leaves, cause);
  send(of, transfer, message.round, leaves, cause);
  advance(of);
}

void FlowEvents::send(std::int32_t from, const collectives::Transfer& transfer, std::int64_t round, double date,
                      std::int32_t cause, bool word) {
  const std::int32_t number =
      connection(followed_[static_cast<std::size_t>(from / lanes_)], transfer.peer, transfer.channel);
  Connection& over = connections_[static_cast<std::size_t>(number)];
  // Pairs of a class that begin at one rank are one connection.
  const std::int64_t uplink_round = round * lanes_ + from % lanes_;
  if (classes_ != nullptr && std::exchange(over.round, uplink_round) == uplink_round) return;
  const auto event = static_cast<std::int32_t>(events_.size());
  events_.push_back({cause, number, -1, 0, date, 0});
  over.queue.push_back({round, place_of(transfer.peer) * lanes_ + from % lanes_, transfer.bytes, date, event, word});
  carry(over, transfer.bytes, 1);
  if (over.queue.size() == 1) begins_.push({std::max(now_, date), serial_++, number});
}

std::int32_t FlowEvents::connection(collectives::Rank from, collectives::Rank to, std::int32_t channel) {
  if (classes_ == nullptr) {
    const auto [known, added] =
        to_[static_cast<std::size_t>(from)].try_emplace(EventClasses::key_of(0, to, channel), -1);
    if (added) *known = make_connection(from, to, nullptr);
    return *known;
  }
  const std::int32_t* number = classes_->pair_of.find(EventClasses::key_of(from, to, channel));
  if (number == nullptr) throw std::logic_error("a message that is in no round");
  std::int32_t& known = of_class_[static_cast<std::size_t>(*number)];
  if (known < 0) {
    const EventClasses::PairClass& pairs = classes_->pairs[static_cast<std::size_t>(*number)];
    known = make_connection(pairs.from, pairs.to, &pairs);
  }
  return known;
}

std::int32_t FlowEvents::make_connection(collectives::Rank from, collectives::Rank to,
                                         const EventClasses::PairClass* pairs) {
  const auto number = static_cast<std::int32_t>(connections_.size());
  Connection& made = connections_.emplace_back();
  made.from = from;
  made.path = network_.path(hosts_[static_cast<std::size_t>(from)], hosts_[static_cast<std::size_t>(to)]);
  const Path& path = network_[made.path];
  std::vector<std::int32_t> shared;
  std::vector<double> flows;
  double most = std::numeric_limits<double>::infinity();
  const auto cross = [&](std::int32_t index) {
    const NetworkLink& link = network_.link(index);
    if (!link.shared) {
      most = std::min(most, link.bandwidth);
      return false;
    }
    shared.push_back(index);
    fluid_.set_capacity(index, link.bandwidth);
    return true;
  };
  if (pairs == nullptr) {
    for (const std::int32_t index : path.links) cross(index);
  } else {
    made.arrivals = pairs->arrivals;
    for (const EventClasses::Crossing& crossing : pairs->crossings) {
      if (cross(crossing.link)) flows.push_back(crossing.flows);
    }
  }
  // A message of one lane has its part of the path.
  const double share = made.share = rounds_->lane_share(from, to);
  if (share < 1) most = std::min(most, share * path.use.payload_rate / path.use.efficiency);
  fluid_.add(shared, flows, most);
  return number;
}

/// The first message of a connection leaves.
void FlowEvents::move(std::int32_t number) {
  Connection& over = connections_[static_cast<std::size_t>(number)];
  const double bytes = cost_of(over, over.queue.front().bytes).wire_bytes;
  over.begun = now_;
  if (bytes > 0) {
    fluid_.begin(number, bytes, now_);
  } else {
    deliver(number);
  }
}

void FlowEvents::deliver(std::int32_t number) {
  Connection& over = connections_[static_cast<std::size_t>(number)];
  const Message message = over.queue.front();
  over.queue.pop_front();
  if (!over.queue.empty()) begins_.push({std::max(now_, over.queue.front().ready), serial_++, number});
  cost_of(over, message.bytes);
  const double latency = over.latency;
  over.last = std::max(over.last, now_ + latency);  // no message overtakes the one before
  Event& event = events_[static_cast<std::size_t>(message.event)];
  event.arrived = over.last;
  event.latency = static_cast<float>(latency);
  event.bottleneck = fluid_.bottleneck(number);
  const double arrival = over.last;
  if (takes_down_) taken_.add(number, message.round * lanes_ + message.to % lanes_, now_ - over.begun);
  if (message.word) return heard(message.to, message, arrival, over.from);
  State& state = states_[static_cast<std::size_t>(message.to)];
  const auto index = static_cast<std::size_t>(message.round - state.through);
  state.rounds.extend(index + 1);
  Round& round = state.rounds[index];
  round.arrived += over.arrivals;
  round.came(arrival, message.event);
  if (index == 0) advance(message.to);
}

void FlowEvents::carry(Connection& over, double bytes, double times) const {
  over.payload += times * bytes;
  over.wire += times * cost_of(over, bytes).wire_bytes;
}

const PathUse::Cost& FlowEvents::cost_of(Connection& over, double bytes) const {
  if (over.bytes == bytes) return over.cost;
  const Path& path = network_[over.path];
  over.bytes = bytes;
  over.cost = path.use.cost(bytes, rounds_->protocol());
  over.latency = path.latency + over.cost.overhead;
  return over.cost;
}

}  // namespace dadsim::sim
