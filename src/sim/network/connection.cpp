#include "sim/network/connection.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <stdexcept>
#include <tuple>

namespace dadsim::sim {

void Departures::write(std::int32_t event, double date, double bytes) {
  const Entry entry{event, date, bytes, -1};
  const auto earlier = [](const Entry& a, const Entry& b) {
    return std::tie(a.date, a.event) < std::tie(b.date, b.event);
  };
  entries_.insert(std::ranges::upper_bound(entries_, entry, earlier), entry);
}

double Departures::begin_of(std::int32_t event, double rate, bool fits) {
  const auto asked = std::ranges::find(entries_, event, &Entry::event);
  if (asked == entries_.end()) throw std::logic_error("a message leaves before it was written");
  // Assigns departures to all present messages at the first request, because actors wake in any order.
  for (Entry& entry : entries_) {
    if (entry.date > asked->date) break;
    if (entry.begin >= 0) continue;
    entry.begin = entry.date;
    if (!fits) continue;
    entry.begin = std::max(entry.begin, free_);
    free_ = entry.begin + entry.bytes / rate;
  }
  const double begin = asked->begin;
  entries_.erase(asked);
  return begin;
}

void Departures::forget(std::int32_t event) {
  std::erase_if(entries_, [event](const Entry& entry) { return entry.event == event; });
}

// ---- transfers of one actor ----

void Outbox::add(sg4::CommPtr transfer, const std::int64_t* ended, std::int64_t serial) {
  if (entries_.size() >= reap_at_) reap();
  entries_.push_back({std::move(transfer), ended, serial});
}

void Outbox::reap() {
  std::size_t kept = 0;
  for (Entry& entry : entries_) {
    if (*entry.ended == kCutOff) {
      let_go(entry);
    } else if (entry.serial < *entry.ended) {
      entry.transfer->wait();  // returns at once, because the transfer is over
    } else {
      std::swap(entries_[kept++], entry);
    }
  }
  entries_.resize(kept);
  reap_at_ = std::max<std::size_t>(1, 2 * kept);
}

/// Releases a transfer that was cut off. It may still wait in a mailbox without a receiver.
void Outbox::let_go(Entry& entry) {
  try {
    entry.transfer->cancel();
  } catch (const simgrid::Exception&) {  // the transfer has failed already
  }
}

void Outbox::drain() {
  for (Entry& entry : entries_) {
    if (*entry.ended == kCutOff) {
      let_go(entry);
    } else {
      entry.transfer->wait();
    }
  }
  entries_.clear();
}

void guarded(const std::function<void()>& code) {
  try {
    code();
  } catch (const simgrid::ForcefulKillException&) {
    throw;  // the simulation is over
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::fflush(stderr);
    std::_Exit(1);
  }
}

// ---- all connections ----

namespace {

constexpr double kSameBeginning = 1e-11;  // seconds; SimGrid treats dates less than 1e-12 apart as equal

Connections* at_work = nullptr;  // connections of this process

}  // namespace

/// Sets the bandwidth of new transfers' links again, so that SimGrid computes their rates. SimGrid 3.32 updates only
/// links that it has marked as changed (System::enable_var in maxmin.cpp). For a transfer that begins after its
/// latency, these are the first link of its path and links connected to it by active transfers. If several transfers
/// leave a host together, only the first one is examined. Until another change there, the other transfers would pass
/// their further links without a limit.
void Connections::share_anew() {
  const double now = sg4::Engine::get_clock();
  std::vector<Beginning> ahead;
  for (; !beginnings_.empty() && beginnings_.top().first <= now + kSameBeginning; beginnings_.pop()) {
    const auto [date, path] = beginnings_.top();
    for (const std::int32_t index : network_[path].links) {
      sg4::Link* link = network_.link(index).link;
      link->set_bandwidth(link->get_bandwidth());
    }
    if (date > now) ahead.push_back(beginnings_.top());
  }
  for (const Beginning& beginning : ahead) beginnings_.push(beginning);
}

Connections::~Connections() {
  if (at_work == this) at_work = nullptr;
}

Connections::Connections(Interconnect& network, std::vector<sg4::Host*> hosts, bool rendezvous)
    : network_(network),
      hosts_(std::move(hosts)),
      rendezvous_(rendezvous),
      peers_(hosts_.size()),
      idle_(sg4::Semaphore::create(0)) {
  // Delays messages that have to wait before their bytes move: SimGrid delays every transfer by a latency, and asks for
  // the factor on the route's latency.
  sg4::Engine::get_instance()->get_netzone_root()->get_network_model()->set_lat_factor_cb(
      [this](double size, const sg4::Host* from, const sg4::Host* to, const auto& /*links*/, const auto& /*zones*/) {
        return delay_factor(from, to, size);
      });
  at_work = this;
  static bool reported = false;
  if (!std::exchange(reported, true)) {
    sg4::Engine::on_time_advance_cb([](double) {
      if (at_work != nullptr) at_work->share_anew();
    });
  }
}

void Connections::open(std::int32_t from, std::int32_t to, std::int32_t channel) {
  Connection*& found = peers_[number(from)].all[key_of(static_cast<std::int64_t>(number(to)), channel)];
  if (found != nullptr) return;
  if (shared_ == nullptr && count() >= kMostConnections) {
    throw std::runtime_error(fmt::format(
        "more than {} pairs of nodes exchange messages, too many to simulate one by one; use fewer workers, another "
        "collective (ring), or fidelity=\"flow\"",
        kMostConnections));
  }
  const std::int32_t path = network_.path(host(from), host(to));
  connections_.push_back(network_[path].use.transport == spec::Transport::tcp
                             ? make_tcp_connection(*this, from, to)
                             : make_fabric_connection(*this, from, to));
  found = connections_.back().get();
  between_[{host(from), host(to)}].push_back(found);
}

Connection& Connections::find(std::int32_t from, std::int32_t to, std::int32_t channel) {
  Peers& peers = peers_[number(from)];
  if (const std::int64_t key = key_of(to, channel); peers.last != key) {
    peers.to_last = peers.all.at(key_of(static_cast<std::int64_t>(number(to)), channel));
    peers.last = key;
  }
  return *peers.to_last;
}

double Connections::delay_factor(const sg4::Host* from, const sg4::Host* to, double wire_bytes) {
  const auto of_pair = between_.find({from, to});
  if (of_pair != between_.end()) {
    for (Connection* connection : of_pair->second) {
      double delay = 0;
      if (!connection->begin(wire_bytes, delay)) continue;
      if (network_.varies()) wait_through_changes(connection->path(), delay);
      return network_.delay_factor(connection->path(), delay);
    }
  }
  const std::int32_t path = network_.path(from, to);  // route of background traffic
  const double delay = network_.latency_now(path);
  if (network_.varies()) wait_through_changes(path, delay);
  return network_.delay_factor(path, delay);
}

/// Marks a transfer's links as changed when its wait ends. SimGrid 3.32 gives a waiting transfer its weight too early
/// if a latency changes meanwhile (NetworkCm02Link::set_latency). Nothing would then change at the end of the wait, so
/// that the transfer would never be updated and never end. A transfer without a wait is delayed by kTrifle, because a
/// change at that very time has the same effect.
void Connections::wait_through_changes(std::int32_t path, double delay) {
  begins_at(sg4::Engine::get_clock() + std::max(delay, Interconnect::kTrifle), path);
}

void Connections::send(Message message, EventGraph& graph, EventGraph::Id cause, Outbox& outbox) {
  ++messages_;
  ++in_flight_;
  Connection& connection = find(message.from, message.to, message.channel);
  network_.hand_over(connection.path(), message.bytes);
  const double software = network_[connection.path()].use.software_of(message.bytes, message.protocol, message.post);
  message.event = graph.add_message(connection.path(), message.ready, software, cause);
  connection.send(message, outbox);
}

void Connections::deliver(const Message& message, double date, const Holdup& holdup, Outbox& outbox) {
  arrival_(message, date, holdup, outbox);
  last_delivery_ = std::max(last_delivery_, date);
  if (--in_flight_ == 0 && waiting_for_idle_) {
    waiting_for_idle_ = false;
    idle_->release();
  }
}

void Connections::wait_until_idle() {
  while (in_flight_ > 0) {
    waiting_for_idle_ = true;
    idle_->acquire();
  }
  if (last_delivery_ > sg4::Engine::get_clock()) sg4::this_actor::sleep_until(last_delivery_);
}

void Connections::close() {
  for (const auto& connection : connections_) connection->close();
}

void Connections::reset(std::int32_t from, std::int32_t to) {
  Peers& peers = peers_[number(from)];
  const auto found = peers.all.find(key_of(static_cast<std::int64_t>(number(to)), 0));
  if (found == peers.all.end() || found->second == nullptr) return;
  Connection* connection = found->second;
  if (connection->idle()) {  // most connections are idle where hosts come and go; a cold connection equals a new one
    connection->close();
    return;
  }
  peers.all.erase(found);
  peers.last = -1;
  std::erase(between_[{host(from), host(to)}], connection);
  ++abandoned_;
  connection->abandon();
}

std::vector<std::int32_t> Connections::connected(std::int32_t from) const {
  std::vector<std::int32_t> nodes;
  for (const auto& [key, connection] : peers_[number(from)].all) {
    const auto to = static_cast<std::int32_t>(key >> collectives::Transfer::kChannelBits);
    if (key == key_of(to, 0)) nodes.push_back(to);
  }
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace dadsim::sim
