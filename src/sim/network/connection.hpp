#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <queue>
#include <simgrid/kernel/Timer.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/network/event_graph.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/network/link_queue.hpp"
#include "sim/network/link_sharing.hpp"

namespace dadsim::sim {

/// Transfers that share the links of the platform by LinkSharing in the place of SimGrid: nothing of them is known to
/// SimGrid but the dates at which they end. For networks that do not vary, over which nothing else goes.
class SharedTransfers {
 public:
  explicit SharedTransfers(Interconnect& network) : network_(network) {}
  SharedTransfers(const SharedTransfers&) = delete;
  SharedTransfers& operator=(const SharedTransfers&) = delete;

  /// One over the path, at most at `most` byte/s of the wire, that may be under way once at a time: `through` is called
  /// when it ends. Returns its number.
  std::int32_t add(std::int32_t path, double most, std::function<void()> through);
  /// So many bytes of the wire begin, above 0.
  void begin(std::int32_t transfer, double bytes);
  /// It ends before its time, if it is under way, and will not begin again; nobody is called.
  void stop(std::int32_t transfer);

 private:
  void settle_soon();
  void settle();

  Interconnect& network_;
  LinkSharing sharing_;
  std::vector<std::function<void()>> through_;      ///< per transfer
  bool settles_ = false;                            ///< a timer for this date is set
  simgrid::kernel::timer::Timer* alarm_ = nullptr;  ///< for the next end
};

inline std::int32_t SharedTransfers::add(std::int32_t path, double most, std::function<void()> through) {
  for (const std::int32_t index : network_[path].links) {
    const NetworkLink& link = network_.link(index);
    if (!sharing_.knows(index)) sharing_.set_link(index, link.bandwidth, link.shared);
  }
  through_.push_back(std::move(through));
  return sharing_.add(network_[path].links, most);
}

inline void SharedTransfers::begin(std::int32_t transfer, double bytes) {
  sharing_.begin(transfer, bytes, simgrid::s4u::Engine::get_clock());
  settle_soon();
}

inline void SharedTransfers::stop(std::int32_t transfer) {
  sharing_.stop(transfer, simgrid::s4u::Engine::get_clock());
  settle_soon();
}

/// Once for all that begins at a date, behind it.
inline void SharedTransfers::settle_soon() {
  if (std::exchange(settles_, true)) return;
  simgrid::kernel::timer::Timer::set(simgrid::s4u::Engine::get_clock(), [this] {
    settles_ = false;
    settle();
  });
}

inline void SharedTransfers::settle() {
  if (alarm_ != nullptr) alarm_->remove();
  alarm_ = nullptr;
  const double now = simgrid::s4u::Engine::get_clock();
  for (const std::int32_t transfer : sharing_.settle(now)) through_[static_cast<std::size_t>(transfer)]();
  const double next = sharing_.next();
  if (!std::isfinite(next)) return;
  alarm_ = simgrid::kernel::timer::Timer::set(std::max(now, next), [this] {
    alarm_ = nullptr;
    settle();
  });
}

/// What leaves a host by one of its links, in the order in which it was written. Bursts of several connections that lie
/// in the queue in front of the link together leave one after the other, first in, first out; fair sharing would let
/// them all end late. Where they do not fit into the queue, windows interleave them, and they do share.
class Departures {
 public:
  /// The message `event` is written, and comes to the queue at `date` (seconds), maybe one to come. Events are numbered
  /// in the order of writing.
  void write(std::int32_t event, double date, double bytes);

  /// When the message begins to leave, at or after its date; to be asked for at that date. `rate` of the link in
  /// byte/s; `fits`: what is written and not yet through lies in the queue.
  double begin_of(std::int32_t event, double rate, bool fits);

  /// The message will not leave.
  void forget(std::int32_t event);

 private:
  struct Entry {
    std::int32_t event;
    double date;   ///< seconds
    double bytes;  ///< of payload
    double begin;  ///< seconds; negative: not known yet
  };
  std::vector<Entry> entries_;  ///< by date, then event
  double free_ = 0;             ///< seconds: when all that have begun are through
};

/// What is handed to a connection.
struct Message {
  std::int32_t operation = 0;  ///< whose it is
  std::int32_t round = 0;
  std::int32_t from = 0, to = 0;  ///< nodes
  std::int32_t channel = 0;       ///< of the connections between them the one that it takes
  double bytes = 0;               ///< payload
  collectives::Protocol protocol = collectives::Protocol::by_message;
  double share = 1;  ///< of its path's bandwidth that it gets at most
  double post = 0;   ///< seconds for which its connection (tcp), or the adapters, are busy with it beside its bytes
  double ready = 0;  ///< seconds: it is sent at this date, or at once if that is past
  std::int32_t event = -1;
};

/// The transfers that an actor has started and not yet seen the end of. SimGrid wants the actor that started a transfer
/// to take notice of its end, and stops what an actor leaves behind when it ends.
class Outbox {
 public:
  static constexpr std::int64_t kCutOff = std::numeric_limits<std::int64_t>::max();
  /// `serial`: of the transfer; it is over when `*ended` is above that, and cut off where `*ended` is kCutOff.
  void add(simgrid::s4u::CommPtr transfer, const std::int64_t* ended, std::int64_t serial);
  /// Waits for all of them.
  void drain();

 private:
  struct Entry {
    simgrid::s4u::CommPtr transfer;
    const std::int64_t* ended;
    std::int64_t serial;
  };
  void reap();
  static void let_go(Entry& entry);
  std::vector<Entry> entries_;
  std::size_t reap_at_ = 1;  ///< entries: what is over is let go soon, so that memory stays in the cache
};

/// From one node to another: first in, first out. Made when first used.
class Connection {
 public:
  virtual ~Connection() = default;
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Takes a message at once. To be called in an actor on the host of message.from.
  virtual void send(const Message& message, Outbox& outbox) = 0;
  /// With rendezvous: the receiver is ready for one more message from `date` on; −∞: its word has come long ago.
  virtual void post(double date) = 0;
  /// As if new.
  virtual void close() = 0;
  /// Nothing is on it, and nobody waits for anything.
  virtual bool idle() = 0;
  /// Cuts off what is under way and forgets what waits. It is not used again.
  virtual void abandon() = 0;
  /// A transfer of this size begins on the hosts of this connection: if it is one of this connection that waits to
  /// begin, then true, and the seconds it still has to wait.
  virtual bool begin(double wire_bytes, double& delay) = 0;
  virtual std::int32_t path() const = 0;
};

/// What held up a message that has been transferred.
struct Holdup {
  std::int32_t bottleneck = -1;  ///< the link that was its narrowest, or −1
  std::int32_t queue = -1;       ///< over TCP: the link whose queue bursts overflow, or −1
  double queueing = 0;           ///< seconds of the transfer that windows, losses and their repair took
};

/// More would not fit into the process where each is an actor of SimGrid's, with a stack of its own.
inline constexpr std::size_t kMostConnections = 30000;

/// The connections between nodes. Sending returns at once; messages of a connection are transferred one after the
/// other, each at the rate that SimGrid's sharing of the links gives it, and are delivered a path latency after their
/// transfer.
///
/// The receiver learns of a message when its transfer has ended; the date of delivery lies ahead, by the latency. What
/// it sends in answer is handed over at once, with that date as `ready`. That saves an event and an actor per message,
/// and loses nothing, since a latency is never negative.
class Connections {
 public:
  /// Called in an actor on the receiver's host: the message arrives at `date`. Further messages of the receiver go
  /// through `outbox`.
  using Arrival = std::function<void(const Message& message, double date, const Holdup& holdup, Outbox& outbox)>;

  /// `rendezvous`: a message leaves when its receiver has posted it and the news of that has come.
  Connections(Interconnect& network, std::vector<simgrid::s4u::Host*> hosts, bool rendezvous);
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  ~Connections();

  void on_arrival(Arrival arrival) { arrival_ = std::move(arrival); }

  /// From now on `node` stands for the host number `host`, and nodes below for the hosts of their number: a schedule of
  /// fewer workers than there are has its aggregator right behind them.
  void number_aggregator(std::int32_t node, std::int32_t host) {
    for (Peers& peers : peers_) peers.last = -1;
    aggregator_node_ = node;
    aggregator_host_ = host;
  }

  /// Makes the connection if there is none. To be called before others act: it may stand still while SimGrid does its
  /// part.
  void open(std::int32_t from, std::int32_t to, std::int32_t channel = 0);
  /// Over an open connection. `cause` is the event whose end let the message be sent; its own event is added to the
  /// graph. To be called in an actor on the host of message.from; other actors may act before it returns.
  void send(Message message, EventGraph& graph, EventGraph::Id cause, Outbox& outbox);
  /// With rendezvous: `to` is ready for one more message of `from` from `date` on; −∞: its word has come long ago.
  void post(std::int32_t from, std::int32_t to, double date, std::int32_t channel = 0) {
    find(from, to, channel).post(date);
  }
  bool rendezvous() const { return rendezvous_; }
  /// From now on transfers over TCP share links by LinkSharing, which is quick where very many do. To be called before
  /// the first connection is opened, where all links are TCP's, nothing varies and nothing else is carried.
  void share_by_ourselves() { shared_ = std::make_unique<SharedTransfers>(network_); }
  /// Null where SimGrid shares the links.
  SharedTransfers* shared() { return shared_.get(); }

  /// Stands still until every message sent has been delivered.
  void wait_until_idle();
  /// All connections as if new (cold).
  void close();
  /// Cuts the connection of channel 0 off, if there is one: what is on it will not be delivered, and a new one has to
  /// be opened. To be called in an actor that is none of a connection's own; others may act before it returns.
  void reset(std::int32_t from, std::int32_t to);
  /// The nodes that `from` has connections of channel 0 to, in rising order.
  std::vector<std::int32_t> connected(std::int32_t from) const;

  std::size_t count() const { return connections_.size() - abandoned_; }
  std::size_t ever_opened() const { return connections_.size(); }
  std::int64_t messages() const { return messages_; }

  // For the connections themselves.
  Interconnect& network() { return network_; }
  simgrid::s4u::Host* host(std::int32_t node) const { return hosts_[number(node)]; }
  /// What leaves by a link over TCP.
  Departures& departures(std::int32_t link) { return departures_[link]; }
  /// What words wait behind at a link of TCP.
  LinkQueue& queue(std::int32_t link) { return queues_[link]; }
  void deliver(const Message& message, double date, const Holdup& holdup, Outbox& outbox);
  /// A transfer on the path has been given to SimGrid, and begins to take its part of the links at `date`, ahead.
  void begins_at(double date, std::int32_t path) { beginnings_.emplace(date, path); }

 private:
  void share_anew();
  /// The number of the node's host.
  std::size_t number(std::int32_t node) const {
    return static_cast<std::size_t>(node == aggregator_node_ ? aggregator_host_ : node);
  }
  Connection& find(std::int32_t from, std::int32_t to, std::int32_t channel);
  double delay_factor(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to, double wire_bytes);
  void wait_through_changes(std::int32_t path, double delay);

  Interconnect& network_;
  std::vector<simgrid::s4u::Host*> hosts_;
  bool rendezvous_;
  std::int32_t aggregator_node_ = -1;
  std::int32_t aggregator_host_ = -1;
  Arrival arrival_;
  /// The connections of a node to others; most use the same again and again.
  struct Peers {
    std::unordered_map<std::int64_t, Connection*> all;  ///< by key_of
    std::int64_t last = -1;
    Connection* to_last = nullptr;
  };
  static std::int64_t key_of(std::int64_t to, std::int32_t channel) {
    return to << collectives::Transfer::kChannelBits | channel;
  }
  using Pair = std::pair<const simgrid::s4u::Host*, const simgrid::s4u::Host*>;
  struct PairHash {
    std::size_t operator()(const Pair& pair) const {
      return std::hash<const void*>()(pair.first) * 31 + std::hash<const void*>()(pair.second);
    }
  };
  std::vector<Peers> peers_;  ///< per node
  std::vector<std::unique_ptr<Connection>> connections_;
  std::unordered_map<Pair, std::vector<Connection*>, PairHash> between_;
  std::unordered_map<std::int32_t, Departures> departures_;  ///< by link
  std::unordered_map<std::int32_t, LinkQueue> queues_;       ///< by link
  using Beginning = std::pair<double, std::int32_t>;         ///< seconds, path
  std::priority_queue<Beginning, std::vector<Beginning>, std::greater<>> beginnings_;
  std::size_t abandoned_ = 0;  ///< of the connections
  std::int64_t messages_ = 0;
  std::int64_t in_flight_ = 0;
  double last_delivery_ = 0;
  std::unique_ptr<SharedTransfers> shared_;
  simgrid::s4u::SemaphorePtr idle_;
  bool waiting_for_idle_ = false;
};

/// For nvlink, rdma and plain paths: latency, the quickest protocol, nothing to remember.
std::unique_ptr<Connection> make_fabric_connection(Connections& all, std::int32_t from, std::int32_t to);

/// For paths with TCP on them: windows, queues and losses, see tcp_connection.cpp.
std::unique_ptr<Connection> make_tcp_connection(Connections& all, std::int32_t from, std::int32_t to);

/// Runs the code of a connection's receiving end; if that throws, the process ends with the reason, since what others
/// wait for will not come any more.
void guarded(const std::function<void()>& code);

}  // namespace dadsim::sim
