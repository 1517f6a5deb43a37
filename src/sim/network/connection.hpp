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
#include "sim/process/clock.hpp"

namespace dadsim::sim {

/// Transfers that share the platform's links by LinkSharing instead of SimGrid, which is only informed of the dates at
/// which they end. The network must not vary and must carry nothing else.
class SharedTransfers {
 public:
  explicit SharedTransfers(Interconnect& network) : network_(network) {}
  SharedTransfers(const SharedTransfers&) = delete;
  SharedTransfers& operator=(const SharedTransfers&) = delete;

  /// Adds a transfer over `path`, at most `most` byte/s on the wire. It can be used again, but only one transfer runs
  /// at a time. `through` is called at the end of each transfer. Returns its number.
  std::int32_t add(std::int32_t path, double most, std::function<void()> through);
  /// Begins the transfer of `bytes` (above 0) on the wire.
  void begin(std::int32_t transfer, double bytes);
  /// Stops the transfer for good, even if it is in progress. `through` is not called.
  void stop(std::int32_t transfer);

 private:
  void settle_soon();
  void settle();

  Interconnect& network_;
  LinkSharing sharing_;
  std::vector<std::function<void()>> through_;      ///< callbacks of the transfers
  bool settles_ = false;                            ///< true: a timer for this date is set
  simgrid::kernel::timer::Timer* alarm_ = nullptr;  ///< timer of the next end
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
  sharing_.begin(transfer, bytes, now());
  settle_soon();
}

inline void SharedTransfers::stop(std::int32_t transfer) {
  sharing_.stop(transfer, now());
  settle_soon();
}

/// Shares the links again, after all transfers that begin at the present date.
inline void SharedTransfers::settle_soon() {
  if (std::exchange(settles_, true)) return;
  simgrid::kernel::timer::Timer::set(now(), [this] {
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

/// Messages that leave a host by one of its links, in the order of writing. Bursts of several connections that fit into
/// the link's queue leave one after the other, first in, first out; fair sharing would delay them all. Bursts that do
/// not fit are sent window by window, and share the link.
class Departures {
 public:
  /// Adds the message `event`, which reaches the queue at `date` (seconds), possibly in the future. Event numbers give
  /// the order of writing.
  void write(std::int32_t event, double date, double bytes);

  /// Returns when the message begins to leave, at the earliest at its date. The caller must call this function at the
  /// message's date. `rate`: that of the link, byte/s. `fits`: true if all messages written and not yet sent fit into
  /// the queue.
  double begin_of(std::int32_t event, double rate, bool fits);

  /// Removes a message that will not leave.
  void forget(std::int32_t event);

 private:
  struct Entry {
    std::int32_t event;
    double date;   ///< seconds
    double bytes;  ///< payload, bytes
    double begin;  ///< date of leaving, seconds; negative: unknown so far
  };
  std::vector<Entry> entries_;  ///< messages by date, then by event
  double free_ = 0;             ///< date at which all messages that have begun have left, seconds
};

/// A message handed to a connection.
struct Message {
  std::int32_t operation = 0;  ///< operation to which the message belongs
  std::int32_t round = 0;
  std::int32_t from = 0, to = 0;  ///< nodes of the sender and the receiver
  std::int32_t channel = 0;       ///< number of the connection among those between the nodes
  double bytes = 0;               ///< payload, bytes
  collectives::Protocol protocol = collectives::Protocol::by_message;
  double share = 1;  ///< largest share of the path's bandwidth that the message may use
  double post = 0;   ///< seconds that its connection (tcp) or the adapters need in addition to the transfer of its
                     ///< bytes
  double ready = 0;  ///< date of sending, seconds; a past date means now
  std::int32_t event = -1;
};

/// Transfers that an actor has started and whose end it has not yet noticed. SimGrid requires the actor that started a
/// transfer to keep it, and stops the transfers of actors that end.
class Outbox {
 public:
  static constexpr std::int64_t kCutOff = std::numeric_limits<std::int64_t>::max();
  /// Adds a transfer with number `serial`. It is over when `*ended` exceeds `serial`, and cut off when `*ended` is
  /// kCutOff.
  void add(simgrid::s4u::CommPtr transfer, const std::int64_t* ended, std::int64_t serial);
  /// Waits for all transfers.
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
  std::size_t reap_at_ = 1;  ///< number of entries above which finished transfers are released, to keep memory in the
                             ///< cache
};

/// A connection from one node to another, first in, first out. It is made at its first use.
class Connection {
 public:
  virtual ~Connection() = default;
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Accepts a message at once. Call in an actor on the host of message.from.
  virtual void send(const Message& message, Outbox& outbox) = 0;
  /// Announces, with rendezvous, that the receiver is ready for one more message from `date` on; −∞: the sender has the
  /// notice already.
  virtual void post(double date) = 0;
  /// Makes the connection new (cold).
  virtual void close() = 0;
  /// Returns whether the connection carries nothing, and no receiver waits for a message on it.
  virtual bool idle() = 0;
  /// Cuts off active transfers and drops waiting ones. The connection must not be used again.
  virtual void abandon() = 0;
  /// Handles the start of a transfer of this size between the connection's hosts. Returns true if the transfer is the
  /// next one of this connection. `delay`: seconds that it must still wait.
  virtual bool begin(double wire_bytes, double& delay) = 0;
  virtual std::int32_t path() const = 0;
};

/// Delays of a transferred message.
struct Holdup {
  std::int32_t bottleneck = -1;  ///< link with the least bandwidth per message; −1: none
  std::int32_t queue = -1;       ///< over TCP: link with the queue that overflows; −1: none
  double queueing = 0;           ///< seconds of the transfer due to windows, losses and their repair
};

/// Largest number of connections of a process if each is a SimGrid actor with its own stack.
inline constexpr std::size_t kMostConnections = 30000;

/// Connections between nodes. Sending returns at once. Messages of a connection are transferred one after the other, at
/// the rate that results from sharing the links. A message is delivered one path latency after its transfer.
///
/// The receiver is notified at the end of a transfer; the date of delivery is later by the latency. It sends its
/// answers at once, with that date as `ready`. This saves an event and an actor per message and is exact, since a
/// latency is never negative.
class Connections {
 public:
  /// Callback in an actor on the receiver's host: the message arrives at `date`. The receiver sends further messages
  /// through `outbox`.
  using Arrival = std::function<void(const Message& message, double date, const Holdup& holdup, Outbox& outbox)>;

  /// `rendezvous`: a message leaves when its receiver has posted it and the sender has been notified.
  Connections(Interconnect& network, std::vector<simgrid::s4u::Host*> hosts, bool rendezvous);
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  ~Connections();

  void on_arrival(Arrival arrival) { arrival_ = std::move(arrival); }

  /// Assigns `node` to host number `host` from now on. Lower nodes are on the hosts with their own numbers. In a
  /// schedule with fewer workers than exist, the aggregator's node number follows the last worker's.
  void number_aggregator(std::int32_t node, std::int32_t host) {
    for (Peers& peers : peers_) peers.last = -1;
    aggregator_node_ = node;
    aggregator_host_ = host;
  }

  /// Makes the connection if it is missing. Call before other actors act, because it may wait for SimGrid.
  void open(std::int32_t from, std::int32_t to, std::int32_t channel = 0);
  /// Sends over an open connection. `cause`: the event whose end let the message be sent. Adds an event for the message
  /// to the graph. Call in an actor on the host of message.from; other actors may act before it returns.
  void send(Message message, EventGraph& graph, EventGraph::Id cause, Outbox& outbox);
  /// Announces, with rendezvous, that `to` is ready for one more message of `from` from `date` on; −∞: the sender has
  /// the notice already.
  void post(std::int32_t from, std::int32_t to, double date, std::int32_t channel = 0) {
    find(from, to, channel).post(date);
  }
  bool rendezvous() const { return rendezvous_; }
  /// Lets TCP transfers share links by LinkSharing from now on, which is fast for very many transfers. Call before the
  /// first connection is opened. All links must be TCP, nothing may vary, and no other traffic may exist.
  void share_by_ourselves() { shared_ = std::make_unique<SharedTransfers>(network_); }
  /// Returns the transfers that share links by LinkSharing; null if SimGrid shares the links.
  SharedTransfers* shared() { return shared_.get(); }

  /// Waits until every message sent has been delivered.
  void wait_until_idle();
  /// Makes all connections new (cold).
  void close();
  /// Cuts off the connection of channel 0, if there is one: its messages are not delivered. An idle connection only
  /// becomes cold. Call open() before the connection is used again. Call in an actor that does not belong to a
  /// connection; other actors may act before it returns.
  void reset(std::int32_t from, std::int32_t to);
  /// Returns the nodes to which `from` has connections of channel 0, in rising order.
  std::vector<std::int32_t> connected(std::int32_t from) const;

  std::size_t count() const { return connections_.size() - abandoned_; }
  std::size_t ever_opened() const { return connections_.size(); }
  std::int64_t messages() const { return messages_; }

  // ---- for the connections themselves ----
  Interconnect& network() { return network_; }
  simgrid::s4u::Host* host(std::int32_t node) const { return hosts_[number(node)]; }
  /// Returns the TCP messages that leave a host by this link.
  Departures& departures(std::int32_t link) { return departures_[link]; }
  /// Returns the queue at TCP link `link`, where small messages wait.
  LinkQueue& queue(std::int32_t link) { return queues_[link]; }
  void deliver(const Message& message, double date, const Holdup& holdup, Outbox& outbox);
  /// Records that a transfer on the path was given to SimGrid, and begins to share the links at `date`, in the future.
  void begins_at(double date, std::int32_t path) { beginnings_.emplace(date, path); }

 private:
  void share_anew();
  /// Returns the number of the node's host.
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
  /// Connections of a node to others; the last one used is cached, because most are used repeatedly.
  struct Peers {
    std::unordered_map<std::int64_t, Connection*> all;  ///< connections to other nodes, by key_of
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
  std::vector<Peers> peers_;  ///< connections of each node
  std::vector<std::unique_ptr<Connection>> connections_;
  std::unordered_map<Pair, std::vector<Connection*>, PairHash> between_;
  std::unordered_map<std::int32_t, Departures> departures_;  ///< departures from each link
  std::unordered_map<std::int32_t, LinkQueue> queues_;       ///< queue of each link
  using Beginning = std::pair<double, std::int32_t>;         ///< date in seconds, and path
  std::priority_queue<Beginning, std::vector<Beginning>, std::greater<>> beginnings_;
  std::size_t abandoned_ = 0;  ///< number of abandoned connections
  std::int64_t messages_ = 0;
  std::int64_t in_flight_ = 0;
  double last_delivery_ = 0;
  std::unique_ptr<SharedTransfers> shared_;
  simgrid::s4u::SemaphorePtr idle_;
  bool waiting_for_idle_ = false;
};

/// Makes a connection for nvlink, rdma and plain paths: latency, the quickest protocol, no state.
std::unique_ptr<Connection> make_fabric_connection(Connections& all, std::int32_t from, std::int32_t to);

/// Makes a connection for paths with TCP: windows, queues and losses; see tcp_connection.cpp.
std::unique_ptr<Connection> make_tcp_connection(Connections& all, std::int32_t from, std::int32_t to);

/// Runs the code of a connection's receiving end. An exception ends the process with the reason, since other actors
/// would wait forever.
void guarded(const std::function<void()>& code);

}  // namespace dadsim::sim
