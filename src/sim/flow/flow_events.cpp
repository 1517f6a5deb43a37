#include "sim/flow/flow_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace dadsim::sim {

collectives::RoundPhase longest_uniform(const collectives::Rounds& rounds) {
  collectives::RoundPhase longest{0, 0, true};
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    if (phase.uniform && phase.rounds > longest.rounds) longest = phase;
  }
  return longest;
}

double messages_of_round(const collectives::Rounds& rounds, std::int64_t round,
                         const std::vector<collectives::Rank>& senders) {
  std::vector<collectives::Transfer> transfers;
  for (const collectives::Rank rank : senders) {
    for (collectives::Rank lane = 0; lane < rounds.lanes(); ++lane) rounds.lane_sends(rank, lane, round, transfers);
  }
  return static_cast<double>(transfers.size());
}

std::vector<collectives::Rank> all_ranks(const collectives::Rounds& rounds) {
  std::vector<collectives::Rank> ranks(static_cast<std::size_t>(rounds.ranks()));
  std::iota(ranks.begin(), ranks.end(), collectives::Rank{0});
  return ranks;
}

double messages_of(const collectives::Rounds& rounds, const std::vector<collectives::Rank>& senders, double most) {
  double all = 0;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    for (std::int64_t i = 0; i < (phase.uniform ? 1 : phase.rounds); ++i) {
      all +=
          (phase.uniform ? static_cast<double>(phase.rounds) : 1) * messages_of_round(rounds, phase.first + i, senders);
      if (all > most) return all;
    }
  }
  return all;
}

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

bool repeats(const collectives::Rounds& rounds) {
  return std::ranges::any_of(rounds.phases(), [](const auto& phase) { return phase.uniform && phase.rounds > 1; });
}

namespace {

constexpr double kSameDate = 1e-12;      // seconds within which events count as simultaneous, as in SimGrid
constexpr double kAllCarriedOut = 2e5;   // largest number of messages for which all rounds are carried out
constexpr std::int64_t kFewRounds = 32;  // equal rounds that are carried out first
constexpr double kSettled = 1e-3;        // largest share of the whole time that rounds of unequal length may add

}  // namespace

bool FlowEvents::serves(const Interconnect& network) {
  return std::ranges::none_of(network.links(),
                              [](const NetworkLink& link) { return link.use.transport == spec::Transport::tcp; });
}

bool FlowEvents::serves_without_loss(const Interconnect& network) {
  return std::ranges::none_of(network.links(), [](const auto& link) { return link.drops(0) || link.use.is_goodput; });
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
      return FlowRefusal{fmt::format("{:.3g} messages are too many to simulate one by one", all)};
    }
    skip_from_ = phase.first + kept;
    skipped_ = left_out;
    marked_ = phase.first;
    marks_.assign(left_out > 0 ? static_cast<std::size_t>(kept) : 0, 0);
    std::vector<double> done = dates;
    events_.reserve(static_cast<std::size_t>(all - static_cast<double>(left_out) * each));
    carry_out(rounds, rounds.count() - left_out, done);
    const double end = *std::ranges::max_element(done);
    if (left_out == 0) {
      add_loads();
      account(last_cause(), 1);
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
    account(last_cause(), (end - begin + more) / (end - begin));
    for (double& date : done) date += more;
    dates.swap(done);
    // Counts the messages of skipped rounds.
    for (FollowedConnection& over : connections_) over.round = -1;
    for (const collectives::Rank rank : followed_) {
      for (collectives::Rank lane = 0; lane < rounds.lanes(); ++lane) {
        transfers_.clear();
        rounds.lane_sends(rank, lane, phase.first, transfers_);
        for (const collectives::Transfer& transfer : transfers_) {
          FollowedConnection& over =
              connections_[static_cast<std::size_t>(connection(rank, transfer.peer, transfer.channel))];
          if (std::exchange(over.round, lane) == lane) continue;
          carry(over, 0, transfer.bytes, static_cast<double>(left_out));
        }
      }
    }
    add_loads();
    return {};
  }
}

void FlowEvents::carry_out(const collectives::Rounds& rounds, std::int64_t count, std::vector<double>& dates) {
  clear(dates.size());
  now_ = *std::ranges::min_element(dates);
  courses_.push_back(course_of(rounds, count, dates.size()));
  std::vector<FlowState>& states = courses_.front().states;
  const auto lanes = static_cast<std::size_t>(rounds.lanes());
  for (std::size_t i = 0; i < states.size(); ++i) {
    states[i].date = dates[i / lanes];
    states[i].begun = true;
  }
  for (std::size_t i = 0; i < states.size(); ++i) advance(0, static_cast<std::int32_t>(i));
  go_on();
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].through < count) throw std::logic_error("a rank waits for a message that no rank sends");
    double& date = dates[i / lanes];
    date = std::max(date, states[i].date);
  }
}

void FlowEvents::clear(std::size_t ranks) {
  fluid_ = {};
  courses_.clear();
  connections_.clear();
  taken_.forget();
  to_.assign(classes_ == nullptr ? ranks : 0, {});
  of_class_.assign(classes_ == nullptr ? 0 : classes_->pairs.size(), -1);
  events_.clear();
  begins_ = {};
}

FlowEvents::Course FlowEvents::course_of(const collectives::Rounds& rounds, std::int64_t count, std::size_t places) {
  Course course;
  course.rounds = &rounds;
  course.lanes = rounds.lanes();
  course.pace = rounds.pace();
  course.count = count;
  course.states.resize(places * static_cast<std::size_t>(rounds.lanes()));
  return course;
}

void FlowEvents::go_on() {
  for (;;) {
    const double next = std::min(begins_.next(), fluid_.next());
    if (!std::isfinite(next)) break;
    now_ = std::max(now_, next);
    const double until = now_ + kSameDate;
    for (bool any = true; any;) {
      any = false;
      for (; begins_.next() <= until; any = true) move(begins_.pop());
      for (std::int32_t over = fluid_.end(until); over >= 0; over = fluid_.end(until), any = true) deliver(over);
    }
    fluid_.share(now_);
  }
}

/// Advances a rank as CollectiveRun::advance does.
void FlowEvents::advance(std::int32_t number, std::int32_t of) {
  Course& course = courses_[static_cast<std::size_t>(number)];
  FlowState& state = course.states[static_cast<std::size_t>(of)];
  while (state.through < course.count) {
    if (state.through < state.entered && state.rounds.front().over()) {
      const FollowedRound& round = state.rounds.front();
      if (round.cause != kStart && round.last > state.date) {
        state.date = round.last;
        state.cause = round.cause;
      }
      state.rounds.pop_front();
      ++state.through;
      continue;
    }
    const bool part_begins = course.pace.part > 0 && numbered(state.entered) % course.pace.part == 0;
    if (state.entered >= course.count || state.entered >= state.through + (part_begins ? 1 : course.pace.in_flight))
      return;
    enter(number, of, state);
  }
  if (sequence_ != nullptr) finish(number, of);
}

void FlowEvents::enter(std::int32_t number, std::int32_t of, FlowState& state) {
  const Course& course = courses_[static_cast<std::size_t>(number)];
  const std::int64_t round = state.entered++;
  const collectives::Rank rank = followed_[static_cast<std::size_t>(of / course.lanes)];
  const collectives::Rank lane = of % course.lanes;
  if (round >= marked_ && round - marked_ < std::ssize(marks_)) {
    double& mark = marks_[static_cast<std::size_t>(round - marked_)];
    mark = std::max(mark, state.date);
  }
  transfers_.clear();
  course.rounds->lane_receives(rank, lane, numbered(round), transfers_);
  const auto index = static_cast<std::size_t>(round - state.through);
  state.rounds.extend(index + 1);
  state.rounds[index].expected = static_cast<std::int32_t>(transfers_.size());
  if (course.pace.handshake != collectives::Pace::Handshake::eager) return meet(of, state, round);
  transfers_.clear();
  course.rounds->lane_sends(rank, lane, numbered(round), transfers_);
  for (const collectives::Transfer& transfer : transfers_) send(number, of, transfer, round, state.date, state.cause);
}

/// Enters a round with a handshake, as CollectiveRun::meet does. `transfers_`: messages that the rank receives.
void FlowEvents::meet(std::int32_t of, FlowState& state, std::int64_t round) {
  const std::vector<collectives::Transfer> received = transfers_;
  transfers_.clear();
  const Course& course = courses_.front();
  course.rounds->sends(of, numbered(round), transfers_);
  FollowedRound& met_in = state.rounds[static_cast<std::size_t>(round - state.through)];
  FlowMeeting& meeting = met_in.its_meeting();
  meeting.entered = state.date;
  meeting.entered_for = state.cause;
  const auto say_ready = [&] {
    for (const collectives::Transfer& transfer : received) {
      send(0, of, {transfer.peer, 0}, round, state.date, state.cause, true);
    }
  };
  if (course.pace.handshake == collectives::Pace::Handshake::rendezvous) say_ready();
  for (const collectives::Transfer& transfer : transfers_) {
    const auto word = std::ranges::find(meeting.words, transfer.peer, &FlowMeeting::FlowWord::from);
    if (word == meeting.words.end()) {
      meeting.waiting.push_back(transfer);
      continue;
    }
    const bool waited = word->date > state.date;
    if (waited) met_in.came(word->date, word->event);
    send(0, of, transfer, round, waited ? word->date : state.date, waited ? word->event : state.cause);
  }
  meeting.words.clear();
  if (course.pace.handshake == collectives::Pace::Handshake::rendezvous_after_sending) say_ready();
}

/// Handles a ready notice, as CollectiveRun::heard does.
void FlowEvents::heard(std::int32_t of, const FollowedMessage& message, double date, collectives::Rank from) {
  FlowState& state = courses_.front().states[static_cast<std::size_t>(of)];
  const auto index = static_cast<std::size_t>(message.round - state.through);
  state.rounds.extend(index + 1);
  FollowedRound& met_in = state.rounds[index];
  FlowMeeting& meeting = met_in.its_meeting();
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
  send(0, of, transfer, message.round, leaves, cause);
  advance(0, of);
}

void FlowEvents::send(std::int32_t course, std::int32_t from, const collectives::Transfer& transfer, std::int64_t round,
                      double date, std::int32_t cause, bool word) {
  const collectives::Rank lanes = courses_[static_cast<std::size_t>(course)].lanes;
  const std::int32_t number =
      connection(followed_[static_cast<std::size_t>(from / lanes)], transfer.peer, transfer.channel);
  FollowedConnection& over = connections_[static_cast<std::size_t>(number)];
  // Uses one connection for pairs of a class with the same sender.
  const std::int64_t uplink_round = round * lanes + from % lanes;
  if (classes_ != nullptr && std::exchange(over.round, uplink_round) == uplink_round) return;
  const auto event = static_cast<std::int32_t>(events_.size());
  events_.push_back({cause, number, -1, 0, date, 0});
  over.queue.push_back(
      {round, place_of(transfer.peer) * lanes + from % lanes, course, transfer.bytes, date, event, word});
  carry(over, course, transfer.bytes, 1);
  if (over.queue.size() == 1) begins_.push(leaves(over), number);
}

/// Returns when a message leaves, by the rule of TcpConnection::aim. The time to reach the tightest link is not added,
/// because the time from that link to the receiver is shorter by as much.
double FlowEvents::leaves(FollowedConnection& over) {
  const FollowedMessage& first = over.queue.front();
  cost_of(over, first.course, first.bytes);
  return std::max(now_, first.ready + over.before) + over.post;
}

std::int32_t FlowEvents::connection(collectives::Rank from, collectives::Rank to, std::int32_t channel) {
  if (classes_ == nullptr) {
    const auto [known, added] =
        to_[static_cast<std::size_t>(from)].try_emplace(EventClasses::key_of(0, to, channel), -1);
    if (added) *known = make_connection(from, to, nullptr);
    return *known;
  }
  const std::int32_t* number = classes_->pair_of.find(EventClasses::key_of(from, to, channel));
  if (number == nullptr) throw std::logic_error("a message belongs to no round");
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
  FollowedConnection& made = connections_.emplace_back();
  made.from = from;
  made.path = network_.path(hosts_[static_cast<std::size_t>(from)], hosts_[static_cast<std::size_t>(to)]);
  const Path& path = network_[made.path];
  std::vector<std::int32_t> shared;
  std::vector<double> flows;
  made.most = std::numeric_limits<double>::infinity();
  const auto cross = [&](std::int32_t index) {
    const NetworkLink& link = network_.link(index);
    if (!link.shared) {
      made.most = std::min(made.most, link.bandwidth);
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
    for (const EventClasses::ClassCrossing& crossing : pairs->crossings) {
      if (cross(crossing.link)) flows.push_back(crossing.flows);
    }
  }
  made.to = to;
  made.share = courses_.front().rounds->lane_share(from, to);
  fluid_.add(shared, flows, limit_of(made));
  return number;
}

/// Returns the limit of a message's rate, byte/s; a message of one lane gets a share of the path.
double FlowEvents::limit_of(const FollowedConnection& over) const {
  const PathUse& use = network_[over.path].use;
  return over.share < 1 ? std::min(over.most, over.share * use.payload_rate / use.efficiency) : over.most;
}

/// Sends the first message of a connection.
void FlowEvents::move(std::int32_t number) {
  FollowedConnection& over = connections_[static_cast<std::size_t>(number)];
  const FollowedMessage& message = over.queue.front();
  const double bytes = cost_of(over, message.course, message.bytes).wire_bytes;
  if (sequence_ != nullptr && std::exchange(over.shares_in, message.course) != message.course) {
    over.share = courses_[static_cast<std::size_t>(message.course)].rounds->lane_share(over.from, over.to);
    fluid_.set_most(number, limit_of(over));
  }
  over.begun = now_;
  if (bytes > 0) {
    fluid_.begin(number, bytes, now_);
  } else {
    deliver(number);
  }
}

void FlowEvents::deliver(std::int32_t number) {
  FollowedConnection& over = connections_[static_cast<std::size_t>(number)];
  const FollowedMessage message = over.queue.front();
  over.queue.pop_front();
  Course& course = courses_[static_cast<std::size_t>(message.course)];
  cost_of(over, message.course, message.bytes);
  over.last = std::max(over.last, now_ + over.latency);  // keeps the messages of a connection in order
  MessageEvent& event = events_[static_cast<std::size_t>(message.event)];
  event.arrived = over.last;
  event.latency = static_cast<float>(over.latency);
  if (!over.queue.empty()) begins_.push(leaves(over), number);
  event.bottleneck = fluid_.bottleneck(number);
  const double arrival = over.last;
  if (takes_down_) taken_.add(number, message.round * course.lanes + message.to % course.lanes, now_ - over.begun);
  if (message.word) return heard(message.to, message, arrival, over.from);
  if (sequence_ != nullptr) expect(course);
  FlowState& state = course.states[static_cast<std::size_t>(message.to)];
  const auto index = static_cast<std::size_t>(message.round - state.through);
  state.rounds.extend(index + 1);
  FollowedRound& round = state.rounds[index];
  round.arrived += over.arrivals;
  round.came(arrival, message.event);
  if (index == 0 && state.begun) advance(message.course, message.to);
}

void FlowEvents::carry(FollowedConnection& over, std::int32_t course, double bytes, double times) {
  over.payload += times * bytes;
  const collectives::Protocol protocol = courses_[static_cast<std::size_t>(course)].rounds->protocol();
  const PathUse& use = network_[over.path].use;
  over.wire += times * (use.transport == spec::Transport::tcp ? bytes * use.carried(protocol) / use.efficiency
                                                              : use.cost(bytes, protocol).wire_bytes);
}

const PathUse::Cost& FlowEvents::cost_of(FollowedConnection& over, std::int32_t course, double bytes) {
  if (over.bytes == bytes && over.course == course) return over.cost;
  const collectives::Rounds& rounds = *courses_[static_cast<std::size_t>(course)].rounds;
  const Path& path = network_[over.path];
  over.bytes = bytes;
  over.course = course;
  if (path.use.transport == spec::Transport::tcp) {
    over.before = path.use.software;
    over.post = bytes > 0 ? rounds.post_seconds() : 0;
    over.cost = {.wire_bytes = bytes * path.use.carried(rounds.protocol()) / path.use.efficiency,
                 .overhead = path.use.overhead - path.use.software};
  } else {
    over.cost = path.use.cost(bytes, rounds.protocol(), rounds.post_seconds());
  }
  over.latency = path.latency + over.cost.overhead;
  return over.cost;
}

void FlowEvents::run_together(std::span<const collectives::Rounds* const> sequence, const Begins& begins) {
  classes_ = nullptr;
  sequence_ = &begins;
  followed_ = all_ranks(*sequence.front());
  skip_from_ = std::numeric_limits<std::int64_t>::max();
  marks_.clear();
  clear(followed_.size());
  now_ = -std::numeric_limits<double>::infinity();
  // Prepares the collectives of a sequence; their states are created when the first rank reaches them.
  for (const collectives::Rounds* rounds : sequence) courses_.push_back(course_of(*rounds, rounds->count(), 0));
  for (const collectives::Rank rank : followed_) begin(0, rank, {});
  go_on();
  if (std::ranges::any_of(courses_, [](const Course& course) { return course.ranks_left > 0; }))
    throw std::logic_error("a rank waits for a message that no rank sends");
  sequence_ = nullptr;
}

void FlowEvents::begin(std::size_t number, collectives::Rank rank, const Moment& through) {
  const Moment begins = (*sequence_)(rank, number, through);
  if (number == courses_.size()) return;
  Course& course = courses_[number];
  expect(course);
  const std::int32_t first = rank * course.lanes;
  for (std::int32_t of = first; of < first + course.lanes; ++of) {
    FlowState& state = course.states[static_cast<std::size_t>(of)];
    state.date = begins.date + course.rounds->start_seconds();
    state.cause = begins.cause;
    state.begun = true;
  }
  for (std::int32_t of = first; of < first + course.lanes; ++of) advance(static_cast<std::int32_t>(number), of);
}

/// Prepares a collective for its first rank or message.
void FlowEvents::expect(Course& course) {
  if (!course.states.empty()) return;
  course.states.resize(followed_.size() * static_cast<std::size_t>(course.lanes));
  course.lanes_left.assign(followed_.size(), course.lanes);
  course.ranks_left = followed_.size();
}

void FlowEvents::finish(std::int32_t number, std::int32_t of) {
  Course& course = courses_[static_cast<std::size_t>(number)];
  const std::int32_t rank = of / course.lanes;
  if (--course.lanes_left[static_cast<std::size_t>(rank)] > 0) return;
  Moment through;
  for (std::int32_t lane = 0; lane < course.lanes; ++lane) {
    const FlowState& state = course.states[static_cast<std::size_t>(rank * course.lanes + lane)];
    if (lane == 0 || state.date > through.date) through = {state.date, state.cause};
  }
  if (--course.ranks_left == 0)
    std::vector<FlowState>().swap(course.states);  // releases the state, because no rank
                                                   // returns to the collective
  begin(static_cast<std::size_t>(number) + 1, rank, through);
}

void FlowEvents::add_loads() {
  loads_.assign(network_.links().size(), {});
  const auto add = [&](std::int32_t link, const FollowedConnection& over, double times) {
    LinkLoad& load = loads_[static_cast<std::size_t>(link)];
    load.payload += times * over.payload;
    load.wire += times * over.wire;
  };
  if (classes_ == nullptr) {
    for (const FollowedConnection& over : connections_) {
      for (const std::int32_t link : network_[over.path].links) add(link, over, 1);
    }
    return;
  }
  for (std::size_t i = 0; i < of_class_.size(); ++i) {
    if (of_class_[i] < 0) continue;
    const FollowedConnection& over = connections_[static_cast<std::size_t>(of_class_[i])];
    for (const EventClasses::ClassCrossing& crossing : classes_->pairs[i].crossings)
      add(crossing.link, over, crossing.flows);
  }
  for (const auto& [link, first] : classes_->first_link) {
    loads_[static_cast<std::size_t>(link)] = loads_[static_cast<std::size_t>(first)];
  }
}

void FlowEvents::keep_times() {
  fluid_ = {};
  begins_ = {};
  events_ = {};
  std::vector<FlowState>().swap(courses_.front().states);
}

/// Stores the rounds and their message times in `solved`; equal rounds get the mean of their times.
void FlowEvents::describe(MaxPlusRounds& solved, bool of_ranks) {
  const Course& course = courses_.front();
  const collectives::Rounds& rounds = *course.rounds;
  solved.begin(rounds);
  if (course.pace.handshake != collectives::Pace::Handshake::eager) return solved.give_up();
  taken_.sort();
  const bool by_classes = classes_ != nullptr && !of_ranks;
  if (by_classes) solved.divide(classes_->class_of, classes_->first);
  // Returns the index of a round among those carried out.
  const auto carried_out = [this](std::int64_t round) {
    return round < skip_from_ ? round : std::max(skip_from_, round - skipped_);
  };
  const std::vector<collectives::Rank> senders = by_classes ? followed_ : all_ranks(rounds);
  std::vector<std::int64_t> represented_by;  // receiver and channel of the first pair of each connection's class
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    const std::int64_t alike = phase.uniform ? phase.rounds : 1;
    for (std::int64_t round = phase.first; round < phase.first + phase.rounds; round += alike) {
      solved.add_round(alike);
      for (const collectives::Rank rank : senders) {
        for (collectives::Rank lane = 0; lane < course.lanes; ++lane) {
          transfers_.clear();
          rounds.lane_sends(rank, lane, round, transfers_);
          for (const collectives::Transfer& transfer : transfers_) {
            const std::int32_t number = connection(rank, transfer.peer, transfer.channel);
            if (by_classes) {
              solved.count_of_class(rank);
              represented_by.resize(connections_.size(), -1);
              const auto pair = static_cast<std::int64_t>(EventClasses::key_of(0, transfer.peer, transfer.channel));
              std::int64_t& first = represented_by[static_cast<std::size_t>(number)];
              if (first < 0) first = pair;
              if (first != pair) continue;
            }
            FollowedConnection& over = connections_[static_cast<std::size_t>(number)];
            const PathUse& use = network_[over.path].use;
            const double wire_bytes = cost_of(over, 0, transfer.bytes).wire_bytes;
            const double taken =
                taken_.mean(number, carried_out(round), carried_out(round + alike), course.lanes, lane);
            const double alone = wire_bytes * use.efficiency / (use.payload_rate * std::min(1.0, over.share));
            const MaxPlusRounds::RoundMessage message{over.before, taken + over.post, over.latency,
                                                      std::min(alone, taken) + over.post};
            const auto place = [&](collectives::Rank of) { return of * course.lanes + lane; };
            if (by_classes) {
              solved.add_of_class(place(place_of(rank)), place(place_of(transfer.peer)), place(number), message);
            } else {
              solved.add(place(rank), place(transfer.peer), transfer.channel, message);
            }
          }
        }
      }
    }
  }
}

std::int32_t FlowEvents::last_cause() const {
  return std::ranges::max_element(courses_.front().states, {}, &FlowState::date)->cause;
}

void FlowEvents::account(std::int32_t cause, double factor) {
  spent_.clear();
  for (std::int32_t number = cause; number != kStart;) {
    const MessageEvent& event = events_[static_cast<std::size_t>(number)];
    const Path& path = network_[connections_[static_cast<std::size_t>(event.connection)].path];
    const double whole = event.arrived - event.sent;
    const double latency = std::min(whole, static_cast<double>(event.latency));
    const double way = std::min(latency, path.way_seconds());
    spent_[{"latency", path.name()}] += factor * way;
    spent_[{"overhead", ""}] += factor * (latency - way);
    std::int32_t narrowest = event.bottleneck;
    for (const std::int32_t link : path.links) {
      if (narrowest < 0 || (event.bottleneck < 0 && network_.link(link).bandwidth < network_.link(narrowest).bandwidth))
        narrowest = link;
    }
    if (narrowest >= 0) spent_[{"bandwidth", network_.link(narrowest).name}] += factor * (whole - latency);
    number = event.cause;
  }
}

}  // namespace dadsim::sim
