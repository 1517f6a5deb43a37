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

// How many messages rounds come to.

namespace dadsim::sim {

std::vector<collectives::Rank> all_ranks(const collectives::Rounds& rounds);

/// The longest phase of rounds that are alike.
collectives::RoundPhase longest_uniform(const collectives::Rounds& rounds);

/// Messages of these ranks in a round.
double messages_of_round(const collectives::Rounds& rounds, std::int64_t round,
                         const std::vector<collectives::Rank>& senders);

/// Messages of theirs in all; counted no further than above `most`.
double messages_of(const collectives::Rounds& rounds, const std::vector<collectives::Rank>& senders, double most);

/// What comes at dates: the earliest first, and of equals the one put in first.
///
/// Dates mostly are those of now and one of few latencies, so that each comes behind all others of its kind: it is put
/// at the end of the first of some lines in which no later one stands, and only where there is none into a heap.
class DateQueue {
 public:
  bool empty() const { return size_ == 0; }
  /// Seconds; infinity: there is none.
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
    double date;  ///< seconds
    std::int64_t serial;
    std::int32_t what;
    bool operator<(const Entry& other) const {
      return date < other.date || (date == other.date && serial < other.serial);
    }
    bool operator>(const Entry& other) const { return other < *this; }
  };
  struct PostLine {
    Fifo<Entry> waiting;
    double last = 0;  ///< seconds: of those that wait
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

/// What the transfers of a collective took that was followed message by message: per connection and round.
class TransferTimes {
 public:
  /// Of another collective.
  void forget() { of_connection_.clear(); }
  /// `round`: rounds · lanes + lane, as they were carried out; `seconds` of a transfer of the connection in it.
  void add(std::int32_t connection, std::int64_t round, double seconds);
  /// No more will come.
  void sort();
  /// In the mean of the rounds from `from` to before `until`, in a lane.
  double mean(std::int32_t connection, std::int64_t from, std::int64_t until, collectives::Rank lanes,
              collectives::Rank lane) const;

 private:
  struct Duration {
    std::int64_t round;
    double seconds;
  };
  std::vector<std::vector<Duration>> of_connection_;
};

/// Every message of every rank, and what it took: `message(rank, lane, transfer, from, until)` in the rounds from
/// `from` to before `until`, which are alike. Puts the rounds into `solved`.
void describe_rounds(
    const collectives::Rounds& rounds,
    const std::function<MaxPlusRounds::RoundMessage(collectives::Rank, collectives::Rank, const collectives::Transfer&,
                                                    std::int64_t from, std::int64_t until)>& message,
    MaxPlusRounds& solved);

/// A collective by flows that begin and end at dates of their own, where its ranks do not keep in step: every message
/// is a flow, messages of a pair follow one another, and a rank goes on when its messages have come, as it does message
/// by message (CollectiveRun over connections of nvlink, rdma and plain links). What it saves is SimGrid's bookkeeping.
///
/// Where ranks, pairs and links fall into equivalence classes (EventClasses), one of each is followed for its
/// class.
///
/// Of rounds that are alike it carries out as many as it takes until each adds the same time, twice; what the others
/// take follows from that.
///
/// Several collectives that follow one another can be followed together: who is early in one then meets those who are
/// still in the one before.
class FlowEvents {
 public:
  FlowEvents(Interconnect& network, std::vector<simgrid::s4u::Host*> hosts)
      : network_(network), hosts_(std::move(hosts)) {}

  /// Messages that are carried out one by one to know what the rounds take; a collective of more is not for flows of
  /// this kind.
  static constexpr double kMostMessages = 2e7;
  /// Whether messages over links like those of the network are known here, whatever is sent: not over TCP.
  static bool serves(const Interconnect& network);
  /// The same of what overflows no queue: also over TCP between nodes of GPUs (MessageGraph::may_lose).
  static bool serves_without_loss(const Interconnect& network);

  /// `dates`: per rank, when it begins, and afterwards when it is done (seconds). `classes`: hold for these; nullptr:
  /// every rank and every pair is followed by itself.
  [[nodiscard]] Refused run(const collectives::Rounds& rounds, std::vector<double>& dates,
                            const EventClasses* classes = nullptr);

  static constexpr std::int32_t kStart = -1;
  /// When a rank begins or is through with a collective, and the message that let it; kStart: none did.
  struct Moment {
    double date = 0;  ///< seconds
    std::int32_t cause = kStart;
  };
  /// `rank` is through with the collectives in front of number `next` of a sequence: when it begins that one, not
  /// before it is through. Asked of number 0 for all ranks, and after the last, when it does not matter what it says.
  using Begins = std::function<Moment(collectives::Rank rank, std::size_t next, const Moment& through)>;
  /// Every message of collectives of the same ranks that follow one another, each rank at its own pace. All are eager.
  void run_together(std::span<const collectives::Rounds* const> sequence, const Begins& begins);
  /// What the time until a message came went to, back along the messages that each waited for.
  void account_for(std::int32_t cause) { account(cause, 1); }

  /// From now on what transfers take is taken down.
  void take_down() { takes_down_ = true; }
  /// Of the last run, in which transfers were taken down: every message of every rank, and what it took. Of classes
  /// these have to know all pairs.
  void describe(MaxPlusRounds& solved);

  const SpentSeconds& spent() const { return spent_; }
  const std::vector<LinkLoad>& loads() const { return loads_; }

 private:
  struct FollowedMessage {
    std::int64_t round = 0;
    std::int32_t to = 0;      ///< place · lanes + lane
    std::int32_t course = 0;  ///< in courses_
    double bytes = 0;         ///< payload
    double ready = 0;         ///< seconds
    std::int32_t event = kStart;
    bool word = false;  ///< that the sender is ready to get what the receiver sends in the round
  };
  /// Its number is that of its transfers in `fluid_`.
  struct FollowedConnection {
    std::int32_t path = 0;
    collectives::Rank from = 0, to = 0;
    std::int32_t arrivals = 1;    ///< messages that come to the receiver at the same time, one from each of its class
    Fifo<FollowedMessage> queue;  ///< the first is under way, or waits for its date
    double last = 0;              ///< seconds: the last delivery
    double begun = 0;             ///< seconds: the transfer that is under way
    double most = 0;              ///< byte/s of its narrowest link that nobody shares
    double share = 1;             ///< of its path that it gets at most
    double bytes = -1;            ///< payload of the last message that was asked for, and what such a one costs
    PathUse::Cost cost;
    double latency = 0;            ///< seconds: of that message, from the end of its transfer
    double before = 0, post = 0;   ///< tcp: seconds of software, beside the transfer before, and behind that
    std::int32_t course = 0;       ///< that this one belongs to
    std::int32_t shares_in = 0;    ///< course of which `share` is
    std::int64_t round = -1;       ///< the last in which a message was handed over, rounds · lanes + lane
    double payload = 0, wire = 0;  ///< bytes carried
  };
  /// Where receivers say that they are ready: what a rank has in a round of that.
  struct FlowMeeting {
    struct FlowWord {
      collectives::Rank from;
      double date;
      std::int32_t event;
    };
    std::vector<FlowWord> words;                 ///< that came before the rank had entered the round
    std::vector<collectives::Transfer> waiting;  ///< messages whose receivers have not said that they are ready
    double entered = 0;
    std::int32_t entered_for = kStart;  ///< the cause
  };
  /// What a rank got in a round, and what it waits for there.
  struct FollowedRound {
    std::int32_t arrived = 0, expected = 0;
    double last = 0;
    std::int32_t cause = kStart;
    std::unique_ptr<FlowMeeting> meeting;  ///< if there is any

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
    Fifo<FollowedRound> rounds;  ///< from `through` on
  };
  /// A collective that is carried out.
  struct Course {
    const collectives::Rounds* rounds = nullptr;
    collectives::Rank lanes = 1;
    collectives::Pace pace;
    std::int64_t count = 0;                     ///< rounds that are carried out
    std::vector<FlowState> states;              ///< per place and lane, as long as ranks are in it
    std::vector<collectives::Rank> lanes_left;  ///< per place; of a sequence
    std::size_t ranks_left = 0;
  };
  struct MessageEvent {
    std::int32_t cause;
    std::int32_t connection;
    std::int32_t bottleneck;
    float latency;         ///< seconds
    double sent, arrived;  ///< seconds
  };
  /// `dates`: per place.
  Refused follow(const collectives::Rounds& rounds, std::vector<double>& dates);
  /// Carries out so many rounds.
  void carry_out(const collectives::Rounds& rounds, std::int64_t count, std::vector<double>& dates);
  /// Of a network without messages, for `ranks`.
  void clear(std::size_t ranks);
  static Course course_of(const collectives::Rounds& rounds, std::int64_t count, std::size_t places);
  /// From message to message until there are none.
  void go_on();
  /// Of a rank that stands for the class of this one.
  std::int32_t place_of(collectives::Rank rank) const {
    return classes_ == nullptr ? rank : classes_->class_of[static_cast<std::size_t>(rank)];
  }
  /// What the collective calls the round.
  std::int64_t numbered(std::int64_t round) const { return round < skip_from_ ? round : round + skipped_; }
  void advance(std::int32_t course, std::int32_t of);
  void enter(std::int32_t course, std::int32_t of, FlowState& state);
  void meet(std::int32_t of, FlowState& state, std::int64_t round);
  void heard(std::int32_t of, const FollowedMessage& message, double date, collectives::Rank from);
  void expect(Course& course);
  /// Of a sequence: a lane is through with a collective, and maybe its rank.
  void finish(std::int32_t course, std::int32_t of);
  /// Of a sequence: the rank, through with those before, comes to one.
  void begin(std::size_t course, collectives::Rank rank, const Moment& through);
  void send(std::int32_t course, std::int32_t from, const collectives::Transfer& transfer, std::int64_t round,
            double date, std::int32_t cause, bool word = false);
  std::int32_t connection(collectives::Rank from, collectives::Rank to, std::int32_t channel);
  std::int32_t make_connection(collectives::Rank from, collectives::Rank to, const EventClasses::PairClass* pairs);
  /// When the first message of a connection leaves.
  double leaves(FollowedConnection& over);
  /// Byte/s of a message at most; infinity: what links have.
  double limit_of(const FollowedConnection& over) const;
  void carry(FollowedConnection& over, std::int32_t course, double bytes, double times);
  /// What a message costs on its way, and `latency`.
  const PathUse::Cost& cost_of(FollowedConnection& over, std::int32_t course, double bytes);
  void add_loads();
  void move(std::int32_t connection);
  void deliver(std::int32_t connection);
  /// Of the rank that is through last.
  std::int32_t last_cause() const;
  void account(std::int32_t cause, double factor);

  Interconnect& network_;
  std::vector<simgrid::s4u::Host*> hosts_;
  const EventClasses* classes_ = nullptr;
  std::vector<collectives::Rank> followed_;   ///< ranks, by place: all, or the first of each class
  std::vector<Course> courses_;               ///< one, or those of a sequence
  const Begins* sequence_ = nullptr;          ///< if there is one
  std::int64_t skip_from_ = 0, skipped_ = 0;  ///< rounds from there on are those of a number higher by so many
  std::int64_t marked_ = 0;                   ///< the first round whose beginning is noted
  std::vector<double> marks_;                 ///< seconds: when the last rank has entered it
  double now_ = 0;
  Fluid fluid_;
  std::vector<FollowedConnection> connections_;
  bool takes_down_ = false;
  TransferTimes taken_;
  std::vector<FlatMap<std::int32_t>> to_;  ///< connections, per sender; without classes
  std::vector<std::int32_t> of_class_;     ///< connections, per class of pairs
  std::vector<MessageEvent> events_;
  DateQueue begins_;                              ///< of connections: the first message leaves
  std::vector<collectives::Transfer> transfers_;  ///< of the round at hand; kept for its memory
  SpentSeconds spent_;
  std::vector<LinkLoad> loads_;
};

}  // namespace dadsim::sim
