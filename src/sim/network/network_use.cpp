#include "sim/network/network_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>

#include "sim/platform.hpp"

namespace dadsim::sim {

void describe_links(const Interconnect& network, step::NetworkUse& use) {
  struct Members {
    double count = 0, least_queue = 0;
  };
  std::map<std::tuple<spec::Transport, std::string, double, double>, Members> classes;
  for (const NetworkLink& link : network.links()) {
    Members& members = classes[{link.use.transport, link.use.link_class, link.bandwidth, link.use.efficiency}];
    const bool queues = link.use.transport == spec::Transport::tcp && !link.use.is_goodput;
    const double queue = queues ? link.use.queue_bytes : 0;
    members.least_queue = members.count > 0 ? std::min(members.least_queue, queue) : queue;
    ++members.count;
  }
  for (const auto& [kind, members] : classes) {
    const auto& [transport, name, bandwidth, efficiency] = kind;
    const spec::LinkSpec* known = find_link(name);
    const bool of_tpus = known != nullptr && known->costs == spec::MessageCosts::ici;
    use.links.push_back(
        {name, to_string(transport),
         of_tpus ? "the stated share of the nominal bandwidth, and the links' own latency" : describe(transport),
         bandwidth, efficiency, members.count, members.least_queue});
  }
}

void LinkUseCount::add(const std::vector<LinkLoad>& loads, double seconds, double times) {
  loads_.resize(std::max(loads_.size(), loads.size()));
  for (std::size_t i = 0; i < loads.size(); ++i) {
    loads_[i].payload += times * loads[i].payload;
    loads_[i].wire += times * loads[i].wire;
  }
  seconds_ += times * seconds;
  steps_ += times;
}

void LinkUseCount::describe(const Interconnect& network, step::NetworkUse& use) const {
  use.link_use.clear();
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    if (!(loads_[i].wire > 0)) continue;
    const NetworkLink& link = network.links()[i];
    use.link_use.push_back({link.name, link.use.link_class, link.bandwidth, link.latency, loads_[i].payload / steps_,
                            loads_[i].wire / link.bandwidth / seconds_});
  }
  use.links_used = static_cast<double>(use.link_use.size());
  keep_busiest(use.link_use);
}

void keep_busiest(std::vector<step::LinkUse>& links) {
  std::ranges::stable_sort(links, [](const step::LinkUse& a, const step::LinkUse& b) {
    return std::tie(b.busy_share, b.bytes_per_step) < std::tie(a.busy_share, a.bytes_per_step);
  });
  if (links.size() > step::NetworkUse::kMostLinks) links.resize(step::NetworkUse::kMostLinks);
}

namespace {

/// Returns when the first simulated message of background traffic leaves, if the traffic is observed from `until` on.
/// Dates equal those of a full simulation if messages end before the next one leaves. Otherwise a message is in flight
/// at `until` anyway.
double first_message(double every, double until) {
  constexpr double kRunUp = 1;      // seconds simulated before `until`
  constexpr double kMessages = 16;  // messages simulated before `until`, if messages are rare
  const double begin = until - std::max(kRunUp, kMessages * every);
  if (begin <= 0) return 0;
  return every > 0 ? std::floor(begin / every) * every : begin;
}

}  // namespace

void start_background(const spec::PlatformSpec& platform, sg4::Engine& engine, double until) {
  for (const spec::PlatformSpec::Background& traffic : platform.background) {
    sg4::Host* from = engine.host_by_name_or_null(traffic.from);
    sg4::Host* to = engine.host_by_name_or_null(traffic.to);
    if (from == nullptr || to == nullptr) {
      throw std::runtime_error(
          fmt::format("background traffic from '{}' to '{}': no such host in the platform", traffic.from, traffic.to));
    }
    compat::add_actor(fmt::format("background {} > {}", traffic.from, traffic.to), from, [from, to, traffic, until] {
      double next = first_message(traffic.every, until);
      if (next > 0) sg4::this_actor::sleep_until(next);
      for (;; next += traffic.every) {
        sg4::Comm::sendto(from, to, static_cast<std::uint64_t>(traffic.bytes));
        if (traffic.every > 0 && next + traffic.every > sg4::Engine::get_clock()) {
          sg4::this_actor::sleep_until(next + traffic.every);
        }
      }
    })->daemonize();
  }
}

}  // namespace dadsim::sim
