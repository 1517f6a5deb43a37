#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <simgrid/kernel/Timer.hpp>
#include <utility>
#include <vector>

#include "sim/network/connection.hpp"
#include "sim/network/fifo.hpp"
#include "sim/network/limited_feed.hpp"
#include "sim/network/tcp.hpp"

namespace dadsim::sim {
namespace {

namespace sg4 = simgrid::s4u;
using simgrid::kernel::timer::Timer;

double now() { return sg4::Engine::get_clock(); }

class TcpConnection : public Connection {
 public:
  TcpConnection(Connections& all, std::int32_t from, std::int32_t to)
      : all_(all), from_(all.host(from)), to_(all.host(to)), path_(all.network().path(from_, to_)) {
    Interconnect& network = all_.network();
    const std::int32_t back = network.path(to_, from_);
    const std::vector<std::int32_t>& there = network[path_].links;
    const std::vector<std::int32_t>& here = network[back].links;
    // The other direction of the i-th link is as far from the other end of the way back, where that has as many links.
    for (std::size_t i = 0; i < there.size(); ++i) {
      opposite_.push_back(there.size() == here.size() ? here[here.size() - 1 - i] : -1);
    }
    // On a line that many hosts come to by others of their own packets mix.
    if (!there.empty() && network.link(there.front()).drops(0) && !is_limited()) {
      departures_ = &all_.departures(there.front());
    }
    if (all_.shared() == nullptr) begin_carrier();  // others begin when they are needed
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
    delay = 0;  // has waited already
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
    if (carrier_ == nullptr) return;
    all_.carrier_ends();
    std::exchange(carrier_, nullptr)->kill();  // with what it was moving; who holds an actor holds its stack
  }

  std::int32_t path() const override { return path_; }

 private:
  NetworkLink& link(std::int32_t index) { return all_.network().link(index); }
  /// Byte/s of payload that goes through at most, however loose its links are.
  double most() { return all_.network()[path_].connection_rate; }
  /// It sends window by window, and no burst of its lies in a queue.
  bool is_limited() { return most() < all_.network()[path_].use.payload_rate; }
  const std::vector<std::int32_t>& links() { return all_.network()[path_].links; }

  /// A message as the application writes it to the socket.
  struct Entry {
    Message message;
    double written;        ///< seconds
    bool in_turn = false;  ///< leaves in turn with others of its host
  };

  /// With rendezvous a message is written when it has been sent and the news of its receiver is there.
  void meet() {
    while (written_ < queue_.size() && !posted_.empty()) {
      Entry& entry = queue_[written_++];
      entry.written = std::max(entry.message.ready, posted_.front());
      posted_.pop_front();
      write(entry);
    }
  }

  /// Counts what is written.
  void write(Entry& entry) {
    const double bytes = carried(entry.message);
    const double date = entry.written;
    // Behind another of its connection a message follows that one; a cold connection sends by its windows.
    entry.in_turn = departures_ != nullptr && !cold_ && written_ == 1 && date > last_end_ && bytes > 0;
    if (entry.in_turn) departures_->write(entry.message.event, std::max(date, now()) + software(), bytes);
    if (!(bytes > 0)) return;  // a word takes no part of a link
    const auto count = [this, bytes, event = entry.message.event] {
      if (dead_) return;
      queue_up(event, bytes);
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

  void begin_carrier() {
    all_.carrier_begins();
    carrier_ = compat::add_actor("carrier", to_, [this] { guarded([this] { carry(); }); });
    carrier_->daemonize();
  }

  void wake() {
    if (carrier_ == nullptr && written_ > 0) return begin_carrier();
    if (!idle_ || written_ == 0) return;
    idle_ = false;
    if (take_up()) wake_->release();
  }

  /// Lets the front of the queue leave when its time comes, by timers: they cost SimGrid a fraction of what it costs to
  /// let an actor sleep. Returns true if it leaves now; otherwise the actor will be woken.
  bool take_up() {
    const Entry& entry = queue_.front();
    // What is written while the one before is on its way follows it without a pause; in a cluster what is through the
    // software by then, which goes on beside the transfer.
    const bool beside = all_.network()[path_].use.in_cluster;
    const double through = (beside ? entry.written : std::max(entry.written, now())) + software();
    follows_ = (beside ? through : entry.written) <= last_end_;
    if (follows_ || through <= now()) return aim();
    Timer::set(through, [this] {
      guarded([this] {
        if (!dead_ && aim()) wake_->release();
      });
    });
    return false;
  }

  /// The front of the queue is through its host's software: how it fares now. Returns true if it leaves at once.
  bool aim() {
    const Entry& entry = queue_.front();
    fare_ = fare_of(carried(entry.message));
    // The first bytes have to come to the tightest link before they take part of it.
    upstream_ = latency_before(fare_.tightest);
    least_end_ = now() + (follows_ ? 0 : upstream_) + entry.message.post + fare_.floor;
    double begin = now();
    if (entry.in_turn) begin = std::max(begin, turn_of(entry.message));
    if (!(entry.message.bytes > 0)) begin += wait_of(entry.message.event);
    if (!follows_) begin += upstream_;
    begin += entry.message.post;
    if (begin <= now()) return true;
    Timer::set(begin, [this] {
      if (!dead_) wake_->release();
    });
    return false;
  }

  void carry() {
    for (;;) {
      idle_ = written_ == 0;
      if (idle_ && all_.carrier_may_end()) {
        carrier_ = nullptr;
        return;
      }
      if (idle_ || !take_up()) wake_->acquire();
      const Entry entry = queue_.front();
      const double from = now();
      transfer(entry.message, fare_);
      Holdup holdup{bottleneck_, links()[fare_.queue], fare_.waiting * (now() - from)};
      if (least_end_ > now()) {
        // The bytes alone take what they take: the rest of the time is that of the window, or of repair.
        holdup.queueing += least_end_ - now();
        sg4::this_actor::sleep_until(least_end_);
      }
      queue_.pop_front();
      --written_;
      const double bytes = carried(entry.message);
      counted_ -= bytes;
      for (const std::int32_t index : links()) link(index).backlog -= bytes;
      last_end_ = now();
      if (written_ == 0 || queue_.front().written > last_end_) cold_ = false;
      last_delivery_ = std::max(last_delivery_, last_end_ + latency() - software() - upstream_);
      const double date = last_delivery_;
      const bool counts = entry.message.bytes > 0;
      Timer::set(date, [this, counts] {
        if (dead_ || !counts) return;
        if (--under_way_ == 0) all_.network().part(path_);
      });
      all_.deliver(entry.message, date, holdup, outbox_);
    }
  }

  /// When the message begins to leave its host, seconds.
  double turn_of(const Message& message) {
    const NetworkLink& first = link(links().front());
    const bool fits = first.backlog / first.use.efficiency <= first.use.queue_bytes;
    return departures_->begin_of(message.event, first.payload_rate(), fits);
  }

  /// A message that is written now goes through the queues of its path.
  void queue_up(std::int32_t event, double bytes) {
    LinkQueue::Span span{now() + software(), now() + software()};
    for (const std::int32_t index : links()) {
      span = all_.queue(index).add(event, span, bytes / link(index).payload_rate(), now());
      span.begin += link(index).latency;
      span.end += link(index).latency;
    }
  }

  /// Seconds that a word which leaves now waits in the queues of its path, behind what was written before it.
  double wait_of(std::int32_t event) {
    double seconds = 0;
    double date = now();
    for (const std::int32_t index : links()) {
      const NetworkLink& on_path = link(index);
      const double longest = on_path.use.queue_bytes * on_path.use.efficiency / on_path.payload_rate();
      const double wait = all_.queue(index).wait(event, date, longest);
      seconds += wait;
      date += wait + on_path.latency;
    }
    return seconds;
  }

  double latency() { return all_.network().latency_now(path_) + all_.network()[path_].use.overhead; }
  /// Seconds from writing a message to its first bytes.
  double software() { return all_.network()[path_].use.software; }
  /// Bytes that a message takes, flags of its protocol with it.
  double carried(const Message& message) { return message.bytes * all_.network()[path_].use.carried(message.protocol); }

  /// Seconds until the news of a posted receive has come to the sender: it waits behind data that leaves by the same
  /// way.
  double control_delay() {
    double seconds = latency();
    for (std::size_t i = 1; i < opposite_.size() || i == 1; ++i) {  // all but the link into the sender
      const std::int32_t index = opposite_[opposite_.size() == 1 ? 0 : i];
      if (index < 0) continue;
      const NetworkLink& way_back = link(index);
      seconds += std::min(std::max(0.0, way_back.backlog), way_back.use.queue_bytes) / way_back.payload_rate();
    }
    return seconds;
  }

  /// Seconds of propagation over the links before the i-th of the path.
  double latency_before(std::size_t i) {
    double seconds = 0;
    for (std::size_t k = 0; k < i; ++k) seconds += link(links()[k]).latency;
    return seconds;
  }

  /// How a message fares that starts now.
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
    // In a cluster a new connection meets the losses of any other, if there are some.
    const bool cold = cold_ && !all_.network()[path_].use.in_cluster;
    tcp::TransferCost fare = tcp::transfer_cost(states_, bytes, 2 * latency(), cold, most());
    if (const double share = share_of_links(); most() < share) {
      fare.queue = all_.network()[path_].limited_by;
      fare.waiting = 1 - (1 - fare.waiting) * most() / share;
    }
    return fare;
  }

  /// Byte/s: the fair share of the tightest link.
  double share_of_links() const {
    double share = std::numeric_limits<double>::infinity();
    for (const tcp::LinkState& state : states_) share = std::min(share, state.rate / state.connections);
    return share;
  }

  void transfer(const Message& message, const tcp::TransferCost& fare) {
    double left = carried(message);
    if (cold_) {
      // Slow start: a window per round trip, doubling until it covers the way there and back.
      const double round_trip = 2 * latency();
      for (double window = tcp::kInitialWindow; window < fare.share * round_trip && left > window; window *= 2) {
        move(window, fare.inflation);
        left -= window;
        sg4::this_actor::sleep_for(std::max(0.0, round_trip - window / fare.share));
      }
    }
    move(left, fare.inflation);
  }

  /// Payload over the links, `inflation` times on average, shared by SimGrid with all the others.
  void move(double payload, double inflation) {
    begin_ = now();
    const double wire_bytes = payload * inflation / all_.network()[path_].use.efficiency;
    all_.network().enter(path_, wire_bytes, load_);
    moving_ = true;
    if (SharedTransfers* shared = all_.shared(); shared != nullptr) {
      if (transfer_ < 0) transfer_ = shared->add(path_, most() / all_.network()[path_].use.efficiency);
      shared->move(transfer_, is_limited() ? wire_bytes : std::round(wire_bytes));  // as SimGrid would
    } else if (is_limited()) {
      if (!feed_) feed_ = std::make_unique<LimitedFeed>(from_);
      feed_->move(wire_bytes, most() / all_.network()[path_].use.efficiency);
    } else {
      const sg4::CommPtr flow = sg4::Comm::sendto_init(from_, to_);
      flow->set_payload_size(static_cast<std::uint64_t>(std::llround(wire_bytes)));  // whole bytes only, here
      compat::start(flow);
      flow->wait();
    }
    moving_ = false;
    bottleneck_ = all_.network().leave(path_, load_, begin_, payload);
  }

  Connections& all_;
  sg4::ActorPtr carrier_;              ///< at the receiving end
  std::unique_ptr<LimitedFeed> feed_;  ///< where its rate is limited
  sg4::Host* from_;
  sg4::Host* to_;
  std::int32_t path_;
  Departures* departures_ = nullptr;    ///< over the host's own link, if that is TCP's
  std::vector<std::int32_t> opposite_;  ///< per link of the path: its other direction, -1 if not known
  Fifo<Entry> queue_;                   ///< sent, not yet transferred
  std::size_t written_ = 0;             ///< of these, from the front
  Fifo<double> posted_;                 ///< seconds: when the sender learns of receivers that no message has met yet
  std::int32_t under_way_ = 0;          ///< messages written and not delivered
  double counted_ = 0;                  ///< bytes of messages written and not yet through
  bool dead_ = false;                   ///< abandoned
  bool moving_ = false;                 ///< bytes are on the links
  std::int32_t transfer_ = -1;          ///< its number where links are not shared by SimGrid
  double begin_ = 0;                    ///< seconds: since when
  bool cold_ = true;
  bool idle_ = false;
  double last_end_ = -1;    ///< seconds: the end of the last transfer
  bool follows_ = false;    ///< the message that leaves now or next follows the one before without a pause
  tcp::TransferCost fare_;  ///< its fare
  double upstream_ = 0;     ///< seconds: from its host to its tightest link
  double least_end_ = 0;    ///< seconds: it does not end before
  double last_delivery_ = -1;
  std::vector<tcp::LinkState> states_;
  std::vector<std::int32_t> load_;
  std::int32_t bottleneck_ = -1;
  sg4::SemaphorePtr wake_ = sg4::Semaphore::create(0);
  Outbox outbox_;
};

}  // namespace

std::unique_ptr<Connection> make_tcp_connection(Connections& all, std::int32_t from, std::int32_t to) {
  return std::make_unique<TcpConnection>(all, from, to);
}

}  // namespace dadsim::sim
