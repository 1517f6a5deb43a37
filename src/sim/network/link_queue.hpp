#pragma once

#include <cstdint>
#include <deque>

namespace dadsim::sim {

/// What lies in front of a link in one direction, first in, first out: what a word without bytes has to wait for there.
/// (Messages with bytes share their links as SimGrid has it.)
class LinkQueue {
 public:
  /// A stretch of time, seconds.
  struct BusySpan {
    double begin, end;
  };

  /// The bytes of a message come to the queue over the time `arrives`, and the link needs `seconds` for them. Returns
  /// when it carries them. Events are numbered in the order of writing; what is over by `now` is forgotten.
  BusySpan add(std::int32_t event, BusySpan arrives, double seconds, double now);

  /// Seconds until all that has come by `date` (of what comes then: what was written before `event`) is through, at
  /// most `longest`: what does not fit into the queue waits at its host.
  double wait(std::int32_t event, double date, double longest) const;

 private:
  struct QueuedJob {
    std::int32_t event;
    BusySpan arrives, leaves;
  };
  std::deque<QueuedJob> jobs_;  ///< in the order in which they leave
  double free_ = 0;             ///< seconds: when the last of all is through
};

}  // namespace dadsim::sim
