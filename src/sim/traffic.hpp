#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/compat.hpp"

namespace dadsim {

/// The routes and links that messages use, and how many messages are on each link: what tells the narrowest link of a
/// message. The sharing itself is SimGrid's.
class Traffic {
 public:
  /// Index of the route from `from` to `to`; looked up in the platform once. Throws std::runtime_error if
  /// there is none.
  std::int32_t route(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to);

  /// A message enters every link of the route. Returns how many messages each of them then carries.
  std::vector<std::int32_t> enter(std::int32_t route);

  /// It leaves again. The index of the link with the least bandwidth per message, counting the messages on it when this
  /// one came or went, whichever are more; the first of equals; -1 if the route has no links.
  std::int32_t leave(std::int32_t route, const std::vector<std::int32_t>& on_entry);

  const std::vector<std::string>& link_names() const { return link_names_; }
  const std::vector<std::string>& latency_names() const { return latency_names_; }  ///< per route, "latency a → b"
  const std::vector<double>& latencies() const { return latencies_; }               ///< per route, seconds

 private:
  struct LinkState {
    double bandwidth;  ///< byte/s
    bool shared;       ///< a fat pipe gives every message its whole bandwidth
    std::int32_t messages = 0;
  };
  std::int32_t link(const simgrid::s4u::Link* link);

  std::map<std::pair<const simgrid::s4u::Host*, const simgrid::s4u::Host*>, std::int32_t> route_index_;
  std::map<const simgrid::s4u::Link*, std::int32_t> link_index_;
  std::vector<std::vector<std::int32_t>> routes_;  ///< links in order
  std::vector<LinkState> links_;
  std::vector<std::string> link_names_, latency_names_;
  std::vector<double> latencies_;
};

}  // namespace dadsim
