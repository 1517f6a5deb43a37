#pragma once

#include <cstdint>
#include <deque>

namespace dadsim::sim {

/// Queue of a link in one direction, first in, first out. Holds messages with bytes, and computes how long a message
/// without bytes waits after them. (The bytes themselves share links through SimGrid.)
class LinkQueue {
 public:
  /// A period of time, seconds.
  struct BusySpan {
    double begin, end;
  };

  /// Adds a message whose bytes arrive during `arrives` and occupy the link for `seconds`. Returns the period in which
  /// the link carries them. Event numbers give the order of writing. Jobs that ended by `now` are removed.
  BusySpan add(std::int32_t event, BusySpan arrives, double seconds, double now);

  /// Returns the seconds until all messages that arrived by `date` have left, at most `longest`. Messages that arrive
  /// at `date` count if written before `event`. Messages that do not fit into the queue wait at their hosts.
  double wait(std::int32_t event, double date, double longest) const;

 private:
  struct QueuedJob {
    std::int32_t event;
    BusySpan arrives, leaves;
  };
  std::deque<QueuedJob> jobs_;  ///< jobs in the order of leaving
  double free_ = 0;             ///< date at which the last job has left, seconds
};

}  // namespace dadsim::sim
