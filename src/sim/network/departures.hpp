#pragma once

#include <cstdint>
#include <vector>

namespace dadsim::sim {

/// What leaves a host by one of its links, in the order in which it was written. Bursts of several connections that lie
/// in the queue in front of the link together leave one after the other, first in, first out; fair sharing would let
/// them all end late. Where they do not fit into the queue, windows interleave them, and they do share.
class Departures {
 public:
  /// The message `event` is written, and comes to the queue at `date` (seconds), maybe one to come. Events are numbered
  /// in the order of writing.
  void write(std::int32_t event, double date, double bytes);

  /// When the message begins to leave, at or after its date; to be asked for at that date. `rate` of the link in
  /// byte/s; `fits`: what is written and not yet through lies in the queue.
  double begin_of(std::int32_t event, double rate, bool fits);

  /// The message will not leave.
  void forget(std::int32_t event);

 private:
  struct Entry {
    std::int32_t event;
    double date;   ///< seconds
    double bytes;  ///< of payload
    double begin;  ///< seconds; negative: not known yet
  };
  std::vector<Entry> entries_;  ///< by date, then event
  double free_ = 0;             ///< seconds: when all that have begun are through
};

}  // namespace dadsim::sim
