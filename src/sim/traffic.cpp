#include "sim/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace dadsim {

std::int32_t Traffic::link(const simgrid::s4u::Link* link) {
  const auto [position, added] = link_index_.try_emplace(link, static_cast<std::int32_t>(links_.size()));
  if (added) {
    links_.push_back({link->get_bandwidth(), link->get_sharing_policy() != simgrid::s4u::Link::SharingPolicy::FATPIPE});
    link_names_.push_back(link->get_name());
  }
  return position->second;
}

std::int32_t Traffic::route(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) {
  const auto [position, added] = route_index_.try_emplace({from, to}, static_cast<std::int32_t>(routes_.size()));
  if (added) {
    std::vector<simgrid::s4u::Link*> links;
    double latency = 0;
    from->route_to(to, links, &latency);
    if (links.empty() && !(latency > 0)) {
      // SimGrid's full routing takes a missing route for one that costs nothing.
      throw std::runtime_error(fmt::format("there is no route from '{}' to '{}'", from->get_cname(), to->get_cname()));
    }
    std::vector<std::int32_t>& indices = routes_.emplace_back();
    for (const simgrid::s4u::Link* on_route : links) indices.push_back(link(on_route));
    latencies_.push_back(latency);
    latency_names_.push_back(fmt::format("{} → {}", from->get_cname(), to->get_cname()));
  }
  return position->second;
}

std::vector<std::int32_t> Traffic::enter(std::int32_t route) {
  std::vector<std::int32_t> messages;
  for (const std::int32_t index : routes_[static_cast<std::size_t>(route)]) {
    messages.push_back(++links_[static_cast<std::size_t>(index)].messages);
  }
  return messages;
}

std::int32_t Traffic::leave(std::int32_t route, const std::vector<std::int32_t>& on_entry) {
  std::int32_t narrowest = -1;
  double least = std::numeric_limits<double>::infinity();
  const auto& indices = routes_[static_cast<std::size_t>(route)];
  for (std::size_t i = 0; i < indices.size(); ++i) {
    LinkState& state = links_[static_cast<std::size_t>(indices[i])];
    const std::int32_t messages = state.shared ? std::max(on_entry[i], state.messages) : 1;
    --state.messages;
    const double bandwidth = state.bandwidth / messages;
    if (bandwidth < least) {
      least = bandwidth;
      narrowest = indices[i];
    }
  }
  return narrowest;
}

}  // namespace dadsim
