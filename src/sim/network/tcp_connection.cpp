#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <simgrid/Exception.hpp>
#include <simgrid/kernel/Timer.hpp>
#include <span>
#include <utility>
#include <vector>

#include "sim/network/connection.hpp"
#include "sim/network/fifo.hpp"
#include "sim/network/link_queue.hpp"
#include "sim/network/tcp.hpp"
#include "sim/process/clock.hpp"

namespace dadsim::sim {
namespace {

// ---- messages in the queues of the links of their path ----

/// Queues the message `event` on the links of its path, from `begin` on, when it has passed its host's software.
void queue_up(Connections& all, std::span<const std::int32_t> links, std::int32_t event, double begin, double bytes) {
  LinkQueue::BusySpan span{begin, begin};
  for (const std::int32_t index : links) {
    const NetworkLink& link = all.network().link(index);
    span = all.queue(index).add(event, span, bytes / link.payload_rate(), now());
    span.begin += link.latency;
    span.end += link.latency;
  }
}

/// Returns the seconds that a message without bytes waits in queues after earlier messages, if it leaves now.
double wait_in_queues(Connections& all, std::span<const std::int32_t> links, std::int32_t event) {
  double seconds = 0;
  double date = now();
  for (const std::int32_t index : links) {
    const NetworkLink& link = all.network().link(index);
    const double longest = link.use.queue_bytes * link.use.efficiency / link.payload_rate();
    const double wait = all.queue(index).wait(event, date, longest);
    seconds += wait;
    date += wait + link.latency;
  }
  return seconds;
}

/// Sends transfers with a limited rate, one at a time. SimGrid 3.32 accepts a rate only from the sender into a mailbox,
/// so that an actor at the sending end is needed.
class LimitedFeed {
 public:
  explicit LimitedFeed(simgrid::s4u::Host* from) : from_(from) {}
  LimitedFeed(const LimitedFeed&) = delete;
  LimitedFeed& operator=(const LimitedFeed&) = delete;

  /// Returns once `wire_bytes` have arrived, at most at `rate` byte/s. Always call it in the same actor at the
  /// receiving end.
  void move(double wire_bytes, double rate) {
    if (feeder_ == nullptr) begin();
    bytes_ = wire_bytes;
    rate_ = rate;
    feeds_->release();
    char* token = nullptr;
    try {
      mailbox_->get_init()->set_dst_data(reinterpret_cast<void**>(&token), sizeof token)->wait();
    } catch (const simgrid::NetworkFailureException&) {
      if (!stopped_) throw;
      feeds_->acquire();  // blocks, because this actor is ended next
    }
  }
  void stop() {
    if (feeder_ == nullptr) return;
    stopped_ = true;
    feeder_->kill();  // others may act before this returns
  }

 private:
  void begin() {
    mailbox_ = simgrid::s4u::Mailbox::by_name(fmt::format("feed {}", simgrid::s4u::this_actor::get_pid()));
    feeder_ = compat::add_actor("feeder", from_, [this] {
      guarded([this] {
        for (;;) {
          feeds_->acquire();
          const simgrid::s4u::CommPtr flow = mailbox_->put_init(&token_, 0);
          flow->set_remaining(bytes_);
          flow->set_rate(rate_);
          compat::start(flow);
          flow->wait();
        }
      });
    });
    feeder_->daemonize();
  }

  simgrid::s4u::Host* from_;
  simgrid::s4u::ActorPtr feeder_ = nullptr;
  simgrid::s4u::Mailbox* mailbox_ = nullptr;
  simgrid::s4u::SemaphorePtr feeds_ = simgrid::s4u::Semaphore::create(0);
  double bytes_ = 0, rate_ = 0;  ///< size and rate limit of the next transfer, byte and byte/s
  bool stopped_ = false;
  char token_ = 0;
};

/// The coroutine that carries a connection's messages, a member function of `Own` that is never awaited. In a SimGrid
/// actor it stays on the actor's stack, which blocks at each wait. Without an actor, where there are too many for
/// stacks, resuming its handle continues it. `Own` has
/// - `std::byte* frame(std::size_t bytes)`: memory for one coroutine, which lives as long as `Own`;
/// - `bool in_actor()`, and `void stand_still(WaitFor, double)` in an actor;
/// - `void resume_behind(WaitFor, double, std::coroutine_handle<>)` without one.
template <class Own>
struct ConnectionCoroutine {
  // NOLINTBEGIN(readability-convert-member-functions-to-static): as the language wants them
  struct promise_type {
    static void* operator new(std::size_t bytes, Own& own) { return own.frame(bytes); }
    static void operator delete(void* /*frame*/) {}
    ConnectionCoroutine get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  // NOLINTEND(readability-convert-member-functions-to-static)
};

/// Event that the coroutine waits for.
enum class WaitFor : std::uint8_t {
  word,     ///< a call of go_on()
  seconds,  ///< `amount` seconds from now
  date,     ///< the date `amount`, seconds
  bytes,    ///< the transfer of `amount` bytes on the wire, over shared links
};

/// Awaitable for an event of WaitFor.
template <class Own>
struct ConnectionWait {
  Own& own;
  WaitFor what;
  double amount = 0;

  bool await_ready() const {
    if (own.in_actor()) own.stand_still(what, amount);
    return own.in_actor();
  }
  void await_suspend(std::coroutine_handle<> handle) const { own.resume_behind(what, amount, handle); }
  void await_resume() const noexcept {}
};

using simgrid::kernel::timer::Timer;

class TcpConnection : public Connection {
 public:
  TcpConnection(Connections& all, std::int32_t from, std::int32_t to)
      : all_(all),
        in_actor_(all.shared() == nullptr),
        from_(all.host(from)),
        to_(all.host(to)),
        path_(all.network().path(from_, to_)) {
    Interconnect& network = all_.network();
    const std::int32_t back = network.path(to_, from_);
    const std::vector<std::int32_t>& there = network[path_].links;
    const std::vector<std::int32_t>& here = network[back].links;
    // Pairs the i-th link with the i-th from the end of the way back as its opposite direction, if both have equally
    // many links.
    for (std::size_t i = 0; i < there.size(); ++i) {
      opposite_.push_back(there.size() == here.size() ? here[here.size() - 1 - i] : -1);
    }
    // Lets messages take turns at the first link if it can drop them. On a line that many hosts reach by their own
    // lines, packets mix instead.
    if (!there.empty() && network.link(there.front()).drops(0) && !is_limited()) {
      departures_ = &all_.departures(there.front());
    }
    if (!in_actor_) return;
    wake_ = sg4::Semaphore::create(0);
    carrier_ = compat::add_actor("carrier", to_, [this] { guarded([this] { carry(); }); });
    carrier_->daemonize();
  }

  void send(const Message& message, Outbox& /*outbox*/) override {
    queue_.push_back({message, message.ready});
    if (all_.rendezvous()) {
      meet();
    } else {
      write(queue_[written_++]);
    }
    wake();
  }

  void post(double date) override {
    posted_.push_back(date + control_delay());
    meet();
    wake();
  }

  bool begin(double /*wire_bytes*/, double& delay) override {
    delay = 0;  // no delay, because the message has waited already
    return true;
  }

  void close() override { cold_ = true; }

  bool idle() override { return queue_.empty() && posted_.empty() && under_way_ == 0; }

  void abandon() override {
    dead_ = true;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      if (queue_[i].in_turn) departures_->forget(queue_[i].message.event);
    }
    for (const std::int32_t index : links()) link(index).backlog -= counted_;
    if (under_way_ > 0) all_.network().part(path_);
    if (moving_) all_.network().leave(path_, load_, begin_, 0);
    if (transfer_ >= 0) all_.shared()->stop(transfer_);
    if (feed_) feed_->stop();
    if (waits_) std::exchange(waits_, nullptr).destroy();
    if (carrier_ == nullptr) return;
    std::exchange(carrier_, nullptr)->kill();  // also ends the actor's transfer; keeping the reference would keep its
                                               // stack
  }

  std::int32_t path() const override { return path_; }

  // ---- used by the coroutine ----
  std::byte* frame(std::size_t bytes) {
    if (!frame_) frame_ = std::make_unique<std::byte[]>(bytes);
    return frame_.get();
  }
  bool in_actor() const { return in_actor_; }
  void stand_still(WaitFor what, double amount) {
    if (what == WaitFor::word) wake_->acquire();
    if (what == WaitFor::seconds) sg4::this_actor::sleep_for(amount);
    if (what == WaitFor::date) sg4::this_actor::sleep_until(amount);
    if (what == WaitFor::bytes) move(amount);
  }
  void resume_behind(WaitFor what, double amount, std::coroutine_handle<> handle) {
    waits_ = handle;
    if (what == WaitFor::word) return;
    if (what == WaitFor::bytes && amount > 0) return all_.shared()->begin(transfer_, amount);
    go_on_at(what == WaitFor::date ? amount : now() + (what == WaitFor::seconds ? amount : 0));
  }

 private:
  NetworkLink& link(std::int32_t index) { return all_.network().link(index); }
  /// Returns the limit of the connection's rate, payload, byte/s.
  double most() { return all_.network()[path_].connection_rate; }
  /// Returns whether the connection is limited. Limited connections send window by window, and leave no burst in a
  /// queue.
  bool is_limited() { return most() < all_.network()[path_].use.payload_rate; }
  const std::vector<std::int32_t>& links() { return all_.network()[path_].links; }

  /// A message after the application has written it to the socket.
  struct SendEntry {
    Message message;
    double written;        ///< date of writing, seconds
    bool in_turn = false;  ///< true: leaves in turn with other messages of its host
  };

  /// Writes, with rendezvous, the messages for which receivers' notices have arrived.
  void meet() {
    while (written_ < queue_.size() && !posted_.empty()) {
      SendEntry& entry = queue_[written_++];
      entry.written = std::max(entry.message.ready, posted_.front());
      posted_.pop_front();
      write(entry);
    }
  }

  /// Counts a message as written to the socket.
  void write(SendEntry& entry) {
    const double bytes = carried(entry.message);
    const double date = entry.written;
    // Queues the message with others of its host only if none of its own connection is ahead; a cold connection sends
    // by its windows.
    entry.in_turn = departures_ != nullptr && !cold_ && written_ == 1 && date > last_end_ && bytes > 0;
    if (entry.in_turn) departures_->write(entry.message.event, std::max(date, now()) + software(), bytes);
    if (!(bytes > 0)) return;  // a message without bytes takes no part of a link
    const auto count = [this, bytes, event = entry.message.event] {
      if (dead_) return;
      queue_up(all_, links(), event, now() + software(), bytes);
      counted_ += bytes;
      if (under_way_++ == 0) all_.network().join(path_);
      for (const std::int32_t index : links()) link(index).backlog += bytes;
    };
    if (date > now()) {
      Timer::set(date, count);
    } else {
      count();
    }
  }

  /// Resumes the coroutine.
  void go_on() {
    if (in_actor_) return wake_->release();
    guarded([this] { std::exchange(waits_, nullptr).resume(); });
  }
  void go_on_at(double date) {
    Timer::set(date, [this] {
      if (!dead_) go_on();
    });
  }

  ConnectionWait<TcpConnection> wait(WaitFor what, double amount = 0) { return {*this, what, amount}; }

  void wake() {
    if (!idle_ || written_ == 0) return;
    if (!in_actor_) return static_cast<void>(carry());
    idle_ = false;
    if (take_up()) wake_->release();
  }

  /// Lets the first message of the queue leave at its time. Uses a timer, which costs SimGrid a fraction of a sleeping
  /// actor. Returns true if the message leaves now; otherwise the actor is woken later.
  bool take_up() {
    const SendEntry& entry = queue_.front();
    // Lets a message written during the previous transfer follow without a pause. In a cluster software works during
    // that transfer, so that the message must have passed the software by its end.
    const bool beside = all_.network()[path_].use.in_cluster;
    const double through = (beside ? entry.written : std::max(entry.written, now())) + software();
    follows_ = (beside ? through : entry.written) <= last_end_;
    if (follows_ || through <= now()) return aim();
    Timer::set(through, [this] {
      guarded([this] {
        if (!dead_ && aim()) go_on();
      });
    });
    return false;
  }

  /// Determines the costs of the first message of the queue, once it has passed its host's software. Returns true if
  /// the message leaves at once.
  bool aim() {
    const SendEntry& entry = queue_.front();
    fare_ = fare_of(carried(entry.message));
    // Adds the time that the first bytes need to reach the tightest link; until then they take no share of it.
    upstream_ = latency_before(fare_.tightest);
    least_end_ = now() + (follows_ ? 0 : upstream_) + entry.message.post + fare_.floor;
    double begin = now();
    if (entry.in_turn) begin = std::max(begin, turn_of(entry.message));
    if (!(entry.message.bytes > 0)) begin += wait_in_queues(all_, links(), entry.message.event);
    if (!follows_) begin += upstream_;
    begin += entry.message.post;
    if (begin <= now()) return true;
    go_on_at(begin);
    return false;
  }

  ConnectionCoroutine<TcpConnection> carry() {
    for (;;) {
      idle_ = written_ == 0;
      if (idle_ && !in_actor_) co_return;  // wake() starts the coroutine again
      if (idle_ || !take_up()) co_await wait(WaitFor::word);
      const SendEntry entry = queue_.front();
      const double from = now();
      double left = carried(entry.message);
      if (cold_) {
        // Slow start: one window per round trip, doubling until windows cover the round trip.
        const double round_trip = 2 * latency();
        for (double window = tcp::kInitialWindow; window < fare_.share * round_trip && left > window; window *= 2) {
          co_await wait(WaitFor::bytes, enter(window));
          leave(window);
          left -= window;
          co_await wait(WaitFor::seconds, std::max(0.0, round_trip - window / fare_.share));
        }
      }
      co_await wait(WaitFor::bytes, enter(left));
      leave(left);
      Holdup holdup{bottleneck_, links()[fare_.queue], fare_.waiting * (now() - from)};
      if (least_end_ > now()) {
        // Waits for the least duration, although the bytes have arrived: the remaining time is due to windows or
        // repair.
        holdup.queueing += least_end_ - now();
        co_await wait(WaitFor::date, least_end_);
      }
      queue_.pop_front();
      --written_;
      const double bytes = carried(entry.message);
      counted_ -= bytes;
      for (const std::int32_t index : links()) link(index).backlog -= bytes;
      last_end_ = now();
      if (written_ == 0 || queue_.front().written > last_end_) cold_ = false;
      // Limits the remainder to at least 0, because latencies may have fallen below the first bytes' time to the
      // tightest link.
      last_delivery_ = std::max({last_delivery_, last_end_, last_end_ + latency() - software() - upstream_});
      const double date = last_delivery_;
      const bool counts = entry.message.bytes > 0;
      Timer::set(date, [this, counts] {
        if (dead_ || !counts) return;
        if (--under_way_ == 0) all_.network().part(path_);
      });
      all_.deliver(entry.message, date, holdup, outbox_);
    }
  }

  /// Returns the date at which the message begins to leave its host, seconds.
  double turn_of(const Message& message) {
    const NetworkLink& first = link(links().front());
    const bool fits = first.backlog / first.use.efficiency <= first.use.queue_bytes;
    return departures_->begin_of(message.event, first.payload_rate(), fits);
  }

  double latency() { return all_.network().latency_now(path_) + all_.network()[path_].use.overhead; }
  /// Returns the seconds from the writing of a message until its first bytes leave.
  double software() { return all_.network()[path_].use.software; }
  /// Returns the payload of a message plus the flags of its protocol, bytes.
  double carried(const Message& message) { return message.bytes * all_.network()[path_].use.carried(message.protocol); }

  /// Returns the seconds until the notice of a posted receive reaches the sender. The notice waits behind data on the
  /// same path.
  double control_delay() {
    double seconds = latency();
    for (std::size_t i = 1; i < opposite_.size() || i == 1; ++i) {  // counts all links except the one into the sender
      const std::int32_t index = opposite_[opposite_.size() == 1 ? 0 : i];
      if (index < 0) continue;
      const NetworkLink& way_back = link(index);
      seconds += std::min(std::max(0.0, way_back.backlog), way_back.use.queue_bytes) / way_back.payload_rate();
    }
    return seconds;
  }

  /// Returns the seconds of propagation over the links before the i-th of the path.
  double latency_before(std::size_t i) {
    double seconds = 0;
    for (std::size_t k = 0; k < i; ++k) seconds += link(links()[k]).latency;
    return seconds;
  }

  /// Returns the costs of a message that leaves now.
  tcp::TransferCost fare_of(double bytes) {
    states_.clear();
    for (std::size_t i = 0; i < links().size(); ++i) {
      const NetworkLink& on_path = link(links()[i]);
      const bool duplex = opposite_[i] >= 0 && opposite_[i] != links()[i];
      states_.push_back({.rate = on_path.payload_rate(),
                         .queue = on_path.use.queue_bytes,
                         .efficiency = on_path.use.efficiency,
                         .connections = static_cast<double>(std::max(1, on_path.connections)),
                         .backlog = on_path.backlog,
                         .opposite_in_use = duplex && !on_path.use.in_cluster && link(opposite_[i]).connections > 0,
                         .drops = on_path.drops(on_path.arriving)});
    }
    // Treats connections in a cluster as warm, because new ones meet the same losses as others.
    const bool cold = cold_ && !all_.network()[path_].use.in_cluster;
    tcp::TransferCost fare = tcp::transfer_cost(states_, bytes, 2 * latency(), cold, most());
    double share = std::numeric_limits<double>::infinity();  // fair share of the tightest link, byte/s
    for (const tcp::LinkState& state : states_) share = std::min(share, state.rate / state.connections);
    if (most() < share) {
      fare.queue = all_.network()[path_].limited_by;
      fare.waiting = 1 - (1 - fare.waiting) * most() / share;
    }
    return fare;
  }

  /// Puts `payload` bytes onto the links. Returns the bytes on the wire, including those added by the costs.
  double enter(double payload) {
    begin_ = now();
    const double efficiency = all_.network()[path_].use.efficiency;
    const double wire_bytes = payload * fare_.inflation / efficiency;
    all_.network().enter(path_, wire_bytes, load_);
    moving_ = true;
    SharedTransfers* shared = all_.shared();
    if (shared == nullptr) return wire_bytes;
    if (transfer_ < 0) transfer_ = shared->add(path_, most() / efficiency, [this] { go_on(); });
    return is_limited() ? wire_bytes : std::round(wire_bytes);  // rounded as SimGrid does
  }
  void leave(double payload) {
    moving_ = false;
    bottleneck_ = all_.network().leave(path_, load_, begin_, payload);
  }

  /// Transfers in an actor; SimGrid shares the links.
  void move(double wire_bytes) {
    if (is_limited()) {
      if (!feed_) feed_ = std::make_unique<LimitedFeed>(from_);
      feed_->move(wire_bytes, most() / all_.network()[path_].use.efficiency);
    } else {
      const sg4::CommPtr flow = sg4::Comm::sendto_init(from_, to_);
      flow->set_payload_size(static_cast<std::uint64_t>(std::llround(wire_bytes)));  // accepts whole bytes only
      compat::start(flow);
      flow->wait();
    }
  }

  Connections& all_;
  const bool in_actor_;
  sg4::ActorPtr carrier_;            ///< actor at the receiving end; null if LinkSharing shares the links
  std::coroutine_handle<> waits_{};  ///< the waiting coroutine, if the connection has no actor
  std::unique_ptr<std::byte[]> frame_;
  std::unique_ptr<LimitedFeed> feed_;  ///< set if the rate is limited
  sg4::Host* from_;
  sg4::Host* to_;
  std::int32_t path_;
  Departures* departures_ = nullptr;    ///< departures from the host's own line; null if messages do not queue there
  std::vector<std::int32_t> opposite_;  ///< opposite direction of each link of the path; −1: unknown
  Fifo<SendEntry> queue_;               ///< messages sent and not transferred yet
  std::size_t written_ = 0;             ///< number of written messages, from the front of the queue
  Fifo<double> posted_;                 ///< dates at which the sender learns that receivers are ready, seconds
  std::int32_t under_way_ = 0;          ///< number of messages with bytes that are written and not yet delivered
  double counted_ = 0;                  ///< payload of messages written and not yet transferred, bytes
  bool dead_ = false;                   ///< true: the connection is abandoned
  bool moving_ = false;                 ///< true: bytes are on the links
  std::int32_t transfer_ = -1;          ///< number of the transfer in SharedTransfers; −1: none
  double begin_ = 0;                    ///< date at which the present bytes began to use the links, seconds
  bool cold_ = true;
  bool idle_ = !in_actor_;
  double last_end_ = -1;    ///< end of the last transfer, seconds
  bool follows_ = false;    ///< true: the present (or next) message follows the previous one without a pause
  tcp::TransferCost fare_;  ///< costs of the present message
  double upstream_ = 0;     ///< latency from the host to the tightest link of the path, seconds
  double least_end_ = 0;    ///< earliest end of the transfer, seconds
  double last_delivery_ = -1;
  std::vector<tcp::LinkState> states_;
  std::vector<std::int32_t> load_;
  std::int32_t bottleneck_ = -1;
  sg4::SemaphorePtr wake_;  ///< wakes the actor of the connection
  Outbox outbox_;
};

}  // namespace

std::unique_ptr<Connection> make_tcp_connection(Connections& all, std::int32_t from, std::int32_t to) {
  return std::make_unique<TcpConnection>(all, from, to);
}

}  // namespace dadsim::sim
