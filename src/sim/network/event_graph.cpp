#include "sim/network/event_graph.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <tuple>

namespace dadsim::sim {

EventGraph::Id EventGraph::add_computation(std::int32_t node, double begin, double end, Id cause) {
  events_.push_back({begin, end, cause, node, kComputation});
  return static_cast<Id>(events_.size()) - 1;
}

EventGraph::Id EventGraph::add_framework(std::int32_t node, double begin, double end, Id cause) {
  events_.push_back({begin, end, cause, node, kFramework});
  return static_cast<Id>(events_.size()) - 1;
}

EventGraph::Id EventGraph::add_start(std::int32_t node, double begin, double end, double lost, Id cause) {
  events_.push_back({begin, end, cause, node, kStartOf});
  events_.back().software = static_cast<float>(std::max(0.0, end - begin - lost));
  return static_cast<Id>(events_.size()) - 1;
}

EventGraph::Id EventGraph::add_message(std::int32_t route, double begin, double software, Id cause) {
  events_.push_back({begin, -1.0, cause, route, kNoneYet});
  events_.back().software = static_cast<float>(software);
  return static_cast<Id>(events_.size()) - 1;
}

std::vector<step::Bound> EventGraph::critical_path(Id last, const Names& names, double since) const {
  const double total = end_of(last) - since;
  std::map<std::array<std::string, 3>, double> seconds;  // seconds by resource, kind and device
  const auto spend = [&](const std::string& resource, const char* kind, double duration,
                         const std::string& device = {}) {
    if (duration > 0) seconds[{resource, kind, device}] += duration;
  };
  double lost = 0;  // seconds due to the bandwidth of any link
  for (Id id = last; id != kStart && end_of(id) > since;) {
    const GraphEvent& event = events_.at(static_cast<std::size_t>(id));
    const auto place = static_cast<std::size_t>(event.place);
    const double duration = event.end - event.begin;
    const double before = std::max(0.0, since - event.begin);  // seconds of the event before `since`, which are not
                                                               // counted
    if (event.bottleneck == kComputation) {
      const Computer computer = names.computation(place);
      spend(computer.host, "compute", duration - before, computer.device);
    } else if (event.bottleneck == kFramework) {
      spend(names.computation(place).host, "framework", duration - before);
    } else if (event.bottleneck == kStartOf) {
      const double software = std::min<double>(event.software, duration - before);
      spend("", "overhead", software);
      lost += duration - before - software;
    } else {
      const double software = std::min<double>(event.software, duration);
      double latency = std::min(names.route_latency(place), duration - software);
      // Treats the remainder as rounding, for an empty message or a route without links.
      if (event.bottleneck < 0 || duration - latency - software <= 1e-9 * duration) latency = duration - software;
      // Takes the transfer first, and propagation after it.
      const double transfer = duration - latency - software;
      const double on_way = std::max(0.0, latency - std::max(0.0, before - transfer));
      spend(names.latency(place), "latency", on_way);
      spend("", "overhead", software - std::max(0.0, before - transfer - latency));
      if (event.bottleneck >= 0) {
        const double counts = std::max(0.0, transfer - before);
        const double queueing = event.queue < 0 ? 0 : std::min<double>(event.queueing, counts);
        if (queueing > 0) spend(names.link(static_cast<std::size_t>(event.queue)), "queueing", queueing);
        spend(names.link(static_cast<std::size_t>(event.bottleneck)), "bandwidth", counts - queueing);
      }
    }
    if (event.cause >= id) throw std::logic_error("an event causes itself");
    id = event.cause;
  }
  double bandwidth = 0;
  for (const auto& [resource, duration] : seconds) bandwidth += resource[1] == "bandwidth" ? duration : 0;
  if (!(bandwidth > 0)) spend("", "overhead", lost);
  for (auto& [resource, duration] : seconds) {
    if (resource[1] == "bandwidth") duration *= 1 + lost / bandwidth;
  }
  std::vector<step::Bound> bounds;
  bounds.reserve(seconds.size());
  for (const auto& [resource, duration] : seconds) {
    bounds.push_back({resource[0], resource[1], duration, duration / total, resource[2]});
  }
  std::ranges::sort(bounds, [](const step::Bound& a, const step::Bound& b) {
    return std::tie(b.seconds, a.resource, a.kind, a.device) < std::tie(a.seconds, b.resource, b.kind, b.device);
  });
  return bounds;
}

}  // namespace dadsim::sim
