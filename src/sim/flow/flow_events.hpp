#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/flow/event_classes.hpp"
#include "sim/flow/flow_account.hpp"
#include "sim/flow/flow_refusal.hpp"
#include "sim/flow/max_plus_rounds.hpp"
#include "sim/network/fifo.hpp"
#include "sim/network/fluid.hpp"
#include "sim/network/interconnect.hpp"
#include "support/flat_map.hpp"

namespace dadsim::sim {

/// Returns all ranks of the rounds, ascending.
std::vector<collectives::Rank> all_ranks(const collectives::Rounds& rounds);

/// Returns the longest phase of equal rounds.
collectives::RoundPhase longest_uniform(const collectives::Rounds& rounds);

/// Returns the number of messages that these ranks send in a round.
double messages_of_round(const collectives::Rounds& rounds, std::int64_t round,
                         const std::vector<collectives::Rank>& senders);

/// Returns the number of messages that these ranks send in all rounds. Counting stops above `most`.
double messages_of(const collectives::Rounds& rounds, const std::vector<collectives::Rank>& senders, double most);

/// A queue of items by date, earliest first; items of equal dates in the order of insertion.
///
/// Most items are dated now plus one of a few latencies, so that each is usually the latest of its kind. An item goes
/// to the end of the first line whose last item is not later, or into a heap.
class DateQueue {
 public:
  bool empty() const { return size_ == 0; }
  /// Returns the next date in seconds; infinity if the queue is empty.
  double next() const { return size_ == 0 ? kNever : first().date; }

  void push(double date, std::int32_t what) {
    ++size_;
    const Entry entry{date, serial_++, what};
    for (PostLine& line : lines_) {
      if (!line.waiting.empty() && date < line.last) continue;
      line.last = date;
      line.waiting.push_back(entry);
      return;
    }
    heap_.push(entry);
  }

  std::int32_t pop() {
    --size_;
    PostLine* line = earliest();
    if (line != nullptr && (heap_.empty() || line->waiting.front() < heap_.top())) {
      const std::int32_t what = line->waiting.front().what;
      line->waiting.pop_front();
      return what;
    }
    const std::int32_t what = heap_.top().what;
    heap_.pop();
    return what;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  struct Entry {
    double date;  ///< date from which the message may leave, seconds
    std::int64_t serial;
    std::int32_t what;
    bool operator<(const Entry& other) const {
      return date < other.date || (date == other.date && serial < other.serial);
    }
    bool operator>(const Entry& other) const { return other < *this; }
  };
  struct PostLine {
    Fifo<Entry> waiting;
    double last = 0;  ///< seconds, latest date in the line
  };

  const PostLine* earliest() const {
    const PostLine* found = nullptr;
    for (const PostLine& line : lines_) {
      if (line.waiting.empty()) continue;
      if (found == nullptr || line.waiting.front() < found->waiting.front()) found = &line;
    }
    return found;
  }
  PostLine* earliest() { return const_cast<PostLine*>(static_cast<const DateQueue*>(this)->earliest()); }
  const Entry& first() const {
    const PostLine* line = earliest();
    return line != nullptr && (heap_.empty() || line->waiting.front() < heap_.top()) ? line->waiting.front()
                                                                                     : heap_.top();
  }

  std::array<PostLine, 6> lines_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
  std::size_t size_ = 0;
  std::int64_t serial_ = 0;
};

/// Transfer times of a collective simulated message by message, per connection and round.
class TransferTimes {
 public:
  /// Forgets all transfers, for another collective.
  void forget() { of_connection_.clear(); }
  /// Adds a transfer of `connection`, in seconds. `round`: round · lanes + lane, where only rounds that are carried out
  /// count.
  void add(std::int32_t connection, std::int64_t round, double seconds);
  /// Prepares for reading; no more transfers may be added.
  void sort();
  /// Returns the mean seconds in one lane over rounds `from` … `until` − 1.
  double mean(std::int32_t connection, std::int64_t from, std::int64_t until, collectives::Rank lanes,
              collectives::Rank lane) const;

 private:
  struct Duration {
    std::int64_t round;
    double seconds;
  };
  std::vector<std::vector<Duration>> of_connection_;
};

/// Returns whether the rounds have a phase of several equal ones.
bool repeats(const collectives::Rounds& rounds);

/// Simulates a collective by flows with individual beginnings and ends, for ranks that are out of step. Every message
/// is a flow, messages of a pair follow one another, and a rank continues when its messages have arrived. CollectiveRun
/// does the same with SimGrid's transfers over nvlink, rdma and plain links; this class avoids SimGrid's bookkeeping.
///
/// With equivalence classes of ranks, pairs and links (EventClasses), only one member of each is simulated.
///
/// If a collective has many messages, only some of its equal rounds are simulated, twice as many each time until
/// earlier and later rounds take the same mean time. Each remaining round is assumed to add that time.
///
/// Several consecutive collectives can be simulated together: ranks that enter one early share links with ranks that
/// are still in the previous one.
class FlowEvents {
 public:
  FlowEvents(Interconnect& network, std::vector<simgrid::s4u::Host*> hosts)
      : network_(network), hosts_(std::move(hosts)) {}

  /// Largest number of messages that may be simulated individually; larger collectives are refused.
  static constexpr double kMostMessages = 2e7;
  /// Returns whether messages over all kinds of links of the network are supported; TCP is not.
  static bool serves(const Interconnect& network);
  /// Returns whether messages that overflow no queue are supported. In addition to serves(), TCP between nodes of GPUs
  /// is (MessageGraph::may_lose).
  static bool serves_without_loss(const Interconnect& network);

  /// Simulates the rounds. `dates`: per rank, when it begins; afterwards, when it is done (seconds). `classes`: must be
  /// valid for these dates; nullptr: every rank and pair is simulated separately.
  [[nodiscard]] Refused run(const collectives::Rounds& rounds, std::vector<double>& dates,
                            const EventClasses* classes = nullptr);

  static constexpr std::int32_t kStart = -1;
  /// The date at which a rank begins or ends a collective, and the message that it waited for; kStart: none.
  struct Moment {
    double date = 0;  ///< date from which the message may leave, seconds
    std::int32_t cause = kStart;
  };
  /// Returns when `rank` begins collective number `next` of a sequence. `through`: when the rank finished the previous
  /// collective; the result is never earlier. It is first called with number 0 for every rank. The result of the call
  /// after the last collective is ignored.
  using Begins = std::function<Moment(collectives::Rank rank, std::size_t next, const Moment& through)>;
  /// Simulates every message of consecutive collectives of the same ranks, each rank at its own pace. All collectives
  /// must be eager.
  void run_together(std::span<const collectives::Rounds* const> sequence, const Begins& begins);
  /// Accounts for the time until a message arrived, by following causes back to the start.
  void account_for(std::int32_t cause) { account(cause, 1); }

  /// Records transfer times from now on.
  void take_down() { takes_down_ = true; }
  /// Adds every message of the last run, with its recorded times, to `solved`. Classes, if used, take the place of
  /// ranks unless `of_ranks`, which requires the class of every pair. Rounds that repeat require `of_ranks`.
  void describe(MaxPlusRounds& solved, bool of_ranks);
  std::size_t times() const { return events_.size(); }  ///< number of recorded times
  /// Releases what describe() does not need.
  void keep_times();

  const SpentSeconds& spent() const { return spent_; }
  const std::vector<LinkLoad>& loads() const { return loads_; }

 private:
  struct FollowedMessage {
    std::int64_t round = 0;
    std::int32_t to = 0;      ///< receiver, place · lanes + lane
    std::int32_t course = 0;  ///< index in courses_
    double bytes = 0;         ///< payload, bytes
    double ready = 0;         ///< date from which the message may leave, seconds
    std::int32_t event = kStart;
    bool word = false;  ///< true: a notice that the receiver is ready for the round, without payload
  };
  /// A connection; its transfers in `fluid_` have the same number.
  struct FollowedConnection {
    std::int32_t path = 0;
    collectives::Rank from = 0, to = 0;
    std::int32_t arrivals = 1;    ///< messages that arrive at the receiver together, one per sender of the class
    Fifo<FollowedMessage> queue;  ///< messages in order; the first is in flight, or waits for its date
    double last = 0;              ///< seconds, date of the last delivery
    double begun = 0;             ///< seconds, beginning of the current transfer
    double most = 0;              ///< limit by links that transfers do not share, byte/s
    double share = 1;             ///< largest share of the path's bandwidth
    double bytes = -1;            ///< payload of the message to which `cost` applies, bytes
    PathUse::Cost cost;
    double latency = 0;            ///< seconds from the end of the transfer to the delivery, for that message
    double before = 0, post = 0;   ///< tcp: seconds of software before a message leaves; `before` may overlap the
                                   ///< previous transfer, `post` follows it
    std::int32_t course = 0;       ///< collective to which `cost` applies
    std::int32_t shares_in = 0;    ///< collective to which `share` applies
    std::int64_t round = -1;       ///< last round with a message, rounds · lanes + lane
    double payload = 0, wire = 0;  ///< bytes carried
  };
  /// State of a rank in a round whose receivers announce that they are ready.
  struct FlowMeeting {
    struct FlowWord {
      collectives::Rank from;
      double date;
      std::int32_t event;
    };
    std::vector<FlowWord> words;                 ///< notices that arrived before the rank entered the round
    std::vector<collectives::Transfer> waiting;  ///< messages whose receivers are not ready yet
    double entered = 0;
    std::int32_t entered_for = kStart;  ///< cause that let the rank enter
  };
  /// Messages that a rank has received, and expects, in a round.
  struct FollowedRound {
    std::int32_t arrived = 0, expected = 0;
    double last = 0;
    std::int32_t cause = kStart;
    std::unique_ptr<FlowMeeting> meeting;  ///< notices of a round with a handshake; otherwise null

    void came(double date, std::int32_t event) {
      if (cause != kStart && date <= last) return;
      last = date;
      cause = event;
    }
    bool over() const { return arrived >= expected && (meeting == nullptr || meeting->waiting.empty()); }
    FlowMeeting& its_meeting() {
      if (meeting == nullptr) meeting = std::make_unique<FlowMeeting>();
      return *meeting;
    }
  };
  struct FlowState {
    std::int64_t entered = 0, through = 0;
    double date = 0;
    std::int32_t cause = kStart;
    bool begun = false;
    Fifo<FollowedRound> rounds;  ///< states of rounds, from round `through` on
  };
  /// A collective that is being carried out.
  struct Course {
    const collectives::Rounds* rounds = nullptr;
    collectives::Rank lanes = 1;
    collectives::Pace pace;
    std::int64_t count = 0;                     ///< number of rounds to simulate
    std::vector<FlowState> states;              ///< states per place and lane, while ranks are in the collective
    std::vector<collectives::Rank> lanes_left;  ///< unfinished lanes per place, in a sequence
    std::size_t ranks_left = 0;
  };
  struct MessageEvent {
    std::int32_t cause;
    std::int32_t connection;
    std::int32_t bottleneck;
    float latency;         ///< date from which the message may leave, seconds
    double sent, arrived;  ///< date from which the message may leave, seconds
  };
  /// Simulates the rounds. `dates`: per place.
  Refused follow(const collectives::Rounds& rounds, std::vector<double>& dates);
  /// Simulates `count` rounds.
  void carry_out(const collectives::Rounds& rounds, std::int64_t count, std::vector<double>& dates);
  /// Resets to an idle network with `ranks`.
  void clear(std::size_t ranks);
  static Course course_of(const collectives::Rounds& rounds, std::int64_t count, std::size_t places);
  /// Processes messages until none are left.
  void go_on();
  /// Returns the place of the rank that represents this rank's class.
  std::int32_t place_of(collectives::Rank rank) const {
    return classes_ == nullptr ? rank : classes_->class_of[static_cast<std::size_t>(rank)];
  }
  /// Returns the number of a round in the collective, including skipped rounds.
  std::int64_t numbered(std::int64_t round) const { return round < skip_from_ ? round : round + skipped_; }
  void advance(std::int32_t course, std::int32_t of);
  void enter(std::int32_t course, std::int32_t of, FlowState& state);
  void meet(std::int32_t of, FlowState& state, std::int64_t round);
  void heard(std::int32_t of, const FollowedMessage& message, double date, collectives::Rank from);
  void expect(Course& course);
  /// Ends a collective for a lane of a sequence, and for its rank if that was the last lane.
  void finish(std::int32_t course, std::int32_t of);
  /// Lets a rank of a sequence begin a collective, once it has finished the previous ones.
  void begin(std::size_t course, collectives::Rank rank, const Moment& through);
  void send(std::int32_t course, std::int32_t from, const collectives::Transfer& transfer, std::int64_t round,
            double date, std::int32_t cause, bool word = false);
  std::int32_t connection(collectives::Rank from, collectives::Rank to, std::int32_t channel);
  std::int32_t make_connection(collectives::Rank from, collectives::Rank to, const EventClasses::PairClass* pairs);
  /// Returns when the first message of a connection leaves, seconds.
  double leaves(FollowedConnection& over);
  /// Returns the limit of a message's rate, byte/s; infinity: only links limit it.
  double limit_of(const FollowedConnection& over) const;
  void carry(FollowedConnection& over, std::int32_t course, double bytes, double times);
  /// Returns the cost of a message, and sets the connection's `latency`.
  const PathUse::Cost& cost_of(FollowedConnection& over, std::int32_t course, double bytes);
  void add_loads();
  void move(std::int32_t connection);
  void deliver(std::int32_t connection);
  /// Returns the message for which the last rank waited.
  std::int32_t last_cause() const;
  void account(std::int32_t cause, double factor);

  Interconnect& network_;
  std::vector<simgrid::s4u::Host*> hosts_;
  const EventClasses* classes_ = nullptr;
  std::vector<collectives::Rank> followed_;   ///< simulated ranks, by place: all, or the first of each class
  std::vector<Course> courses_;               ///< the collective, or those of a sequence
  const Begins* sequence_ = nullptr;          ///< function that begins collectives of a sequence; null without a
                                              ///< sequence
  std::int64_t skip_from_ = 0, skipped_ = 0;  ///< `skipped_` rounds are left out, from number `skip_from_` on
  std::int64_t marked_ = 0;                   ///< first round whose beginning is recorded
  std::vector<double> marks_;                 ///< dates at which the last rank entered each recorded round, seconds
  double now_ = 0;
  Fluid fluid_;
  std::vector<FollowedConnection> connections_;
  bool takes_down_ = false;
  TransferTimes taken_;
  std::vector<FlatMap<std::int32_t>> to_;  ///< connections per sender, if no classes are used
  std::vector<std::int32_t> of_class_;     ///< connections per class of pairs
  std::vector<MessageEvent> events_;
  DateQueue begins_;                              ///< dates at which first messages of connections leave
  std::vector<collectives::Transfer> transfers_;  ///< transfers of the current round; a member to reuse its memory
  SpentSeconds spent_;
  std::vector<LinkLoad> loads_;
};

}  // namespace dadsim::sim
