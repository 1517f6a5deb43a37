#pragma once

#include <cstdint>
#include <span>

#include "sim/network/connection.hpp"
#include "sim/network/link_queue.hpp"

// Messages in the queues of the links of their path, one after the other.

namespace dadsim::sim {

/// The message `event` of so many bytes leaves its host's software at `begin` and goes through the queues.
inline void queue_up(Connections& all, std::span<const std::int32_t> links, std::int32_t event, double begin,
                     double bytes) {
  LinkQueue::Span span{begin, begin};
  for (const std::int32_t index : links) {
    const NetworkLink& link = all.network().link(index);
    span = all.queue(index).add(event, span, bytes / link.payload_rate(), simgrid::s4u::Engine::get_clock());
    span.begin += link.latency;
    span.end += link.latency;
  }
}

/// Seconds that a word which leaves now waits in the queues, behind what was written before it.
inline double wait_in_queues(Connections& all, std::span<const std::int32_t> links, std::int32_t event) {
  double seconds = 0;
  double date = simgrid::s4u::Engine::get_clock();
  for (const std::int32_t index : links) {
    const NetworkLink& link = all.network().link(index);
    const double longest = link.use.queue_bytes * link.use.efficiency / link.payload_rate();
    const double wait = all.queue(index).wait(event, date, longest);
    seconds += wait;
    date += wait + link.latency;
  }
  return seconds;
}

}  // namespace dadsim::sim
