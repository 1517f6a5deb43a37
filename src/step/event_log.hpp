#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dadsim::step {

/// Record of an event-driven run.
struct EventLog {
  /// Activity of a node.
  struct NodeUse {
    double sent = 0, received = 0;  ///< bytes of messages sent, and of messages that arrived
    double lost = 0;       ///< bytes of its messages that did not arrive: failed, cancelled, in flight at the end
    double busy = 0;       ///< seconds of computing
    double cut_short = 0;  ///< part of it: computing made worthless by a failure or a cancellation
    double down = 0;       ///< seconds
    double framework = 0;  ///< seconds in which the framework packed, unpacked or summed at the node
    std::int64_t outages = 0;
    std::int64_t restored = 0;  ///< times that it continued from a checkpoint
    double lost_work = 0;       ///< seconds of computing since such checkpoints, repeated while it was down
    double checkpointing = 0;   ///< seconds of writing checkpoints; part of busy
    std::int64_t messages = 0, lost_messages = 0;
  };
  std::vector<NodeUse> nodes;

  struct Span {
    enum class Kind : std::uint8_t { compute, send, lost, down };
    Kind kind = Kind::compute;
    std::int32_t node = -1, peer = -1;  ///< peer: for a message
    double begin = 0, end = 0;          ///< seconds
    double bytes = 0;
    std::int64_t number = 0;  ///< number of the message, or of the first step computed
    std::string what;         ///< channel, or the computing node's role
    bool failed = false;
  };
  std::vector<Span> spans;  ///< in the order of their ends, as many as requested
  std::int64_t spans_left_out = 0;
  struct Outage {
    std::int32_t node = -1;
    double begin = 0, end = 0;  ///< seconds; the end of the run if it was down then
  };
  std::vector<Outage> outages;  ///< outages of hosts, in the order of their ends; kMostOutages at most
  static constexpr std::size_t kMostOutages = 20'000;
  std::int64_t link_outages = 0;
  std::int64_t events = 0;
  double seconds = 0;  ///< until the end of the run
};

}  // namespace dadsim::step
