#include "sim/network/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <stdexcept>
#include <utility>

namespace dadsim::sim {

namespace sg4 = simgrid::s4u;

// ---- what an actor has under way ----

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
      entry.transfer->wait();  // is over: returns at once
    } else {
      std::swap(entries_[kept++], entry);
    }
  }
  entries_.resize(kept);
  reap_at_ = std::max<std::size_t>(1, 2 * kept);
}

/// What was cut off may still lie in a mailbox that nobody looks into any more.
void Outbox::let_go(Entry& entry) {
  try {
    entry.transfer->cancel();
  } catch (const simgrid::Exception&) {  // it has failed already
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

// ---- all of them ----

Connections::Connections(Interconnect& network, std::vector<sg4::Host*> hosts, bool rendezvous)
    : network_(network),
      hosts_(std::move(hosts)),
      rendezvous_(rendezvous),
      peers_(hosts_.size()),
      idle_(sg4::Semaphore::create(0)) {
  // A message may have to wait before its bytes move: SimGrid lets every transfer stand for a latency first, and asks
  // what to multiply the route's with.
  sg4::Engine::get_instance()->get_netzone_root()->get_network_model()->set_lat_factor_cb(
      [this](double size, const sg4::Host* from, const sg4::Host* to, const auto& /*links*/, const auto& /*zones*/) {
        return delay_factor(from, to, size);
      });
}

void Connections::open(std::int32_t from, std::int32_t to) {
  Connection*& found = peers_[number(from)].all[static_cast<std::int32_t>(number(to))];
  if (found != nullptr) return;
  if (count() >= kMostConnections) {
    throw std::runtime_error(fmt::format(
        "more than {} pairs of nodes exchange messages, too many to simulate each; use fewer workers, another "
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

Connection& Connections::find(std::int32_t from, std::int32_t to) {
  Peers& peers = peers_[number(from)];
  if (peers.last != to) {
    peers.to_last = peers.all.at(static_cast<std::int32_t>(number(to)));
    peers.last = to;
  }
  return *peers.to_last;
}

double Connections::delay_factor(const sg4::Host* from, const sg4::Host* to, double wire_bytes) {
  const auto of_pair = between_.find({from, to});
  if (of_pair != between_.end()) {
    for (Connection* connection : of_pair->second) {
      double delay = 0;
      if (connection->begin(wire_bytes, delay)) return network_.delay_factor(connection->path(), delay);
    }
  }
  const std::int32_t path = network_.path(from, to);  // traffic of others
  return network_.delay_factor(path, network_.latency_now(path));
}

void Connections::send(Message message, EventGraph& graph, EventGraph::Id cause, Outbox& outbox) {
  ++messages_;
  ++in_flight_;
  Connection& connection = find(message.from, message.to);
  network_.hand_over(connection.path(), message.bytes);
  message.event = graph.add_message(connection.path(), message.ready, cause);
  connection.send(message, outbox);
}

void Connections::deliver(const Message& message, double date, std::int32_t bottleneck, Outbox& outbox) {
  arrival_(message, date, bottleneck, outbox);
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
  const auto found = peers.all.find(static_cast<std::int32_t>(number(to)));
  if (found == peers.all.end() || found->second == nullptr) return;
  Connection* connection = found->second;
  if (connection->idle()) {  // most are, where hosts come and go: a cold one is as good as a new one
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
  for (const auto& [to, connection] : peers_[number(from)].all) nodes.push_back(to);
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace dadsim::sim
