#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "step/timing.hpp"

namespace dadsim::sim {

/// Events of one simulated step: computations and messages, each with the event whose end let it begin. The chain of
/// causes from the last event back to the start is the critical path. It has no gaps: time spent waiting is attributed
/// to the event waited for.
class EventGraph {
 public:
  using Id = std::int32_t;
  static constexpr Id kStart = -1;  ///< event at the beginning of the step

  explicit EventGraph(double begin) : begin_(begin) {}

  /// Adds a computation of `node`.
  Id add_computation(std::int32_t node, double begin, double end, Id cause);
  /// Adds work of the framework at `node`, before or after messages.
  Id add_framework(std::int32_t node, double begin, double end, Id cause);
  /// Adds the time of `node` before the first message of a collective; `lost` seconds of it are due to limited
  /// bandwidth.
  Id add_start(std::int32_t node, double begin, double end, double lost, Id cause);
  /// Adds a message on `route`, in flight from `begin`. `software`: seconds of software in the message's time.
  Id add_message(std::int32_t route, double begin, double software, Id cause);
  bool ended(Id event) const { return events_[static_cast<std::size_t>(event)].end >= 0; }
  void end(Id event, double time) { events_[static_cast<std::size_t>(event)].end = time; }
  /// Sets the message's narrowest link, once the message has ended.
  void set_bottleneck(Id event, std::int32_t link) { events_[static_cast<std::size_t>(event)].bottleneck = link; }
  /// Sets the seconds of the transfer due to windows, losses and their repair at the queue of a link.
  void set_queueing(Id event, std::int32_t link, double seconds) {
    events_[static_cast<std::size_t>(event)].queue = link;
    events_[static_cast<std::size_t>(event)].queueing = static_cast<float>(seconds);
  }
  double end_of(Id event) const { return event == kStart ? begin_ : events_[static_cast<std::size_t>(event)].end; }

  /// Returns the event that ends later; `a` if both end at the same time.
  Id later(Id a, Id b) const { return end_of(b) > end_of(a) ? b : a; }

  struct Computer {
    std::string host, device;
  };
  /// Functions that name the resources on the critical path.
  struct Names {
    std::function<Computer(std::size_t node)> computation;
    std::function<std::string(std::size_t route)> latency;
    std::function<double(std::size_t route)> route_latency;  ///< seconds of the route's links, without software
    std::function<std::string(std::size_t link)> link;
  };

  /// Returns the seconds of the critical path that ends with `last`, by resource, longest first. Counts from the date
  /// `since`. Shares add up to 1.
  std::vector<step::Bound> critical_path(Id last, const Names& names, double since) const;

 private:
  struct GraphEvent {
    double begin;
    double end;  ///< end, seconds; negative: not ended
    Id cause;
    std::int32_t place;       ///< node of a computation; route of a message
    std::int32_t bottleneck;  ///< link of a message, or kComputation, kNoneYet, kFramework, kStartOf
    std::int32_t queue = -1;  ///< link whose queue delayed a message; −1: none
    float queueing = 0;       ///< seconds of delay in the queue of link `queue`
    float software = 0;       ///< seconds of software, of a message or a start
  };
  static constexpr std::int32_t kComputation = -1;
  static constexpr std::int32_t kNoneYet = -2;
  static constexpr std::int32_t kFramework = -3;
  static constexpr std::int32_t kStartOf = -4;

  double begin_;
  std::vector<GraphEvent> events_;
};

}  // namespace dadsim::sim
