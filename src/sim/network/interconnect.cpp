#include "sim/network/interconnect.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "sim/network/link_trace.hpp"
#include "sim/platform.hpp"
#include "sim/platform/engine.hpp"
#include "sim/platform/properties_of_link.hpp"
#include "sim/process/clock.hpp"

namespace dadsim::sim {

std::string Path::name() const { return fmt::format("{} → {}", from->get_cname(), to->get_cname()); }

Interconnect::Interconnect(const simgrid::s4u::Engine& engine, bool varies, spec::Transport fallback)
    : varies_(varies), fallback_(fallback) {
  for (simgrid::s4u::Link* link : engine.get_all_links()) {
    // Corrects the loopback: SimGrid gives it kUnitLatency, but its real latency is zero.
    const double latency = link->get_name() == "__loopback__" ? 0 : link->get_latency();
    latency_of_.try_emplace(std::bit_cast<std::uintptr_t>(link), latency);
    link->set_latency(varies ? std::max(latency, kTrifle) : 0);
  }
}

Interconnect::Interconnect(const Interconnect& loaded, const std::vector<Fixed>& numbers)
    : varies_(false),
      fallback_(loaded.fallback_),
      window_(loaded.window_),
      streams_(loaded.streams_),
      latency_of_(loaded.latency_of_) {
  for (const Fixed& one : numbers) {
    const auto address = std::bit_cast<std::uintptr_t>(one.link);
    *latency_of_.try_emplace(address, one.latency).first = one.latency;
    *bandwidth_of_.try_emplace(address, one.bandwidth).first = one.bandwidth;
  }
}

void Interconnect::take_back(const Interconnect& earlier) {
  for (std::size_t i = 0; i < links_.size() && !varies_; ++i) {
    const double before = i < earlier.links_.size() ? earlier.links_[i].simulated : 0;
    if (links_[i].simulated != before) links_[i].link->set_latency(before);
  }
  *this = earlier;
}

std::int32_t Interconnect::add(simgrid::s4u::Link* link) {
  const auto index = static_cast<std::int32_t>(links_.size());
  NetworkLink entry;
  entry.link = link;
  entry.name = link->get_name();
  entry.use = properties_of(link, fallback_);
  const double* fixed = bandwidth_of_.find(std::bit_cast<std::uintptr_t>(link));
  entry.bandwidth = fixed == nullptr ? link->get_bandwidth() : *fixed;
  entry.simulated = link->get_latency();
  const double* loaded = latency_of_.find(std::bit_cast<std::uintptr_t>(link));
  entry.latency = loaded == nullptr ? 0 : *loaded;
  entry.shared = link->get_sharing_policy() != simgrid::s4u::Link::SharingPolicy::FATPIPE;
  entry.kind =
      kinds_.try_emplace({entry.bandwidth, entry.latency, entry.shared, entry.use}, kinds_.size() + 1).first->second;
  links_.push_back(std::move(entry));
  link_index_.try_emplace(std::bit_cast<std::uintptr_t>(link), index);
  return index;
}

std::int32_t Interconnect::path(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) {
  const auto [position, added] = path_index_[from].try_emplace(to, static_cast<std::int32_t>(paths_.size()));
  if (!added) return position->second;
  std::vector<simgrid::s4u::Link*>& links = on_route_;
  links.clear();
  double latency = 0;
  from->route_to(to, links, &latency);
  if (links.empty() && !(latency > 0)) {
    // Refuses a missing route, which SimGrid's full routing would treat as a route without cost.
    throw std::runtime_error(fmt::format("there is no route from '{}' to '{}'", from->get_cname(), to->get_cname()));
  }
  Path& path = paths_.emplace_back();
  path.from = from;
  path.to = to;
  path.latency = latency;  // latency beyond that of the links
  path.links.reserve(links.size());
  for (simgrid::s4u::Link* on_route : links) {
    path.links.push_back(index_of(on_route));
    path.latency += links_[static_cast<std::size_t>(path.links.back())].latency - on_route->get_latency();
  }
  path.latency = path.latency > kTrifle ? path.latency : 0;
  read_again(path);
  if (!varies_ && !links.empty() && !(links.front()->get_latency() > 0)) {
    links.front()->set_latency(kUnitLatency);
    links_[static_cast<std::size_t>(path.links.front())].simulated = kUnitLatency;
  }
  return position->second;
}

void Interconnect::read_again(Path& path) {
  std::vector<PathLink>& on_path = on_path_;
  on_path.clear();
  for (const std::int32_t index : path.links) {
    NetworkLink& entry = links_[static_cast<std::size_t>(index)];
    if (varies_) entry.bandwidth = entry.link->get_bandwidth();
    on_path.push_back({entry.bandwidth, &entry.use});
  }
  path.use = path_use(on_path);
  limit(path);
}

void Interconnect::limit(Path& path) const {
  path.connection_rate = std::numeric_limits<double>::infinity();
  const double round_trip = 2 * (path.latency + path.use.overhead);
  for (std::size_t i = 0; i < path.links.size(); ++i) {
    const LinkProperties& use = link(path.links[i]).use;
    if (!use.is_goodput || use.transport != spec::Transport::tcp) continue;
    const double rate = streams_ * (use.per_connection > 0 ? use.per_connection : window_ / round_trip);
    if (rate >= path.connection_rate) continue;
    path.connection_rate = rate;
    path.limited_by = i;
  }
}

double Interconnect::latency_now(std::int32_t index) {
  Path& path = paths_[static_cast<std::size_t>(index)];
  if (varies_) {
    path.latency = 0;
    for (const std::int32_t link : path.links) {
      NetworkLink& entry = links_[static_cast<std::size_t>(link)];
      entry.latency = entry.link->get_latency();
      if (entry.latency > kTrifle) path.latency += entry.latency;
    }
    read_again(path);
  }
  return path.latency;
}

double Interconnect::delay_factor(std::int32_t path, double delay) const {
  // Avoids a zero delay, because a transfer without a wait gets the weight 1, unlike others if SimGrid has latencies.
  if (varies_) delay = std::max(delay, kTrifle);
  // Sums the latencies again, because a link in the middle of this path may now be the first of another path.
  const Path& on = paths_[static_cast<std::size_t>(path)];
  double simulated = on.links.empty() ? on.latency : 0;
  for (const std::int32_t index : on.links) {
    simulated += varies_ ? link(index).link->get_latency() : link(index).simulated;
  }
  return delay / simulated;
}

void Interconnect::join(std::int32_t path) {
  std::int32_t before = -1;
  for (const std::int32_t index : paths_[static_cast<std::size_t>(path)].links) {
    NetworkLink& entry = link(index);
    ++entry.connections;
    if (before >= 0 && entry.use.in_cluster) {
      Feed& feed = feeds_[feed_of(before, index)];
      if (feed.connections++ == 0) {
        feed.rate = link(before).payload_rate();
        entry.arriving += feed.rate;
      }
    }
    before = index;
  }
}

void Interconnect::part(std::int32_t path) {
  std::int32_t before = -1;
  for (const std::int32_t index : paths_[static_cast<std::size_t>(path)].links) {
    NetworkLink& entry = link(index);
    --entry.connections;
    if (before >= 0 && entry.use.in_cluster) {
      Feed& feed = feeds_[feed_of(before, index)];
      if (--feed.connections == 0) entry.arriving -= feed.rate;
    }
    if (entry.connections == 0) entry.arriving = 0;  // removes accumulated rounding
    before = index;
  }
}

void Interconnect::enter(std::int32_t path, double bytes, std::vector<std::int32_t>& load) {
  load.clear();
  for (const std::int32_t index : paths_[static_cast<std::size_t>(path)].links) {
    NetworkLink& entry = links_[static_cast<std::size_t>(index)];
    entry.bytes += bytes;
    load.push_back(++entry.messages);
  }
}

std::int32_t Interconnect::leave(std::int32_t path, const std::vector<std::int32_t>& load, double begin,
                                 double payload) {
  std::int32_t narrowest = -1;
  double least = std::numeric_limits<double>::infinity();
  const auto& indices = paths_[static_cast<std::size_t>(path)].links;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    NetworkLink& entry = links_[static_cast<std::size_t>(indices[i])];
    const std::int32_t messages = entry.shared ? std::max(load[i], entry.messages) : 1;
    --entry.messages;
    const double bandwidth = entry.bandwidth / messages;
    if (bandwidth < least) {
      least = bandwidth;
      narrowest = indices[i];
    }
  }
  if (trace_ != nullptr) {
    for (const std::int32_t link : indices) trace_->carried(link, begin, now(), payload);
  }
  return narrowest;
}

std::vector<LinkLoad> Interconnect::take_loads() {
  std::vector<LinkLoad> loads(links_.size());
  for (std::size_t i = 0; i < links_.size(); ++i) loads[i].wire = std::exchange(links_[i].bytes, 0);
  for (Path& path : paths_) {
    if (!(path.payload > 0)) continue;
    for (const std::int32_t link : path.links) loads[static_cast<std::size_t>(link)].payload += path.payload;
    path.payload = 0;
  }
  return loads;
}

}  // namespace dadsim::sim
