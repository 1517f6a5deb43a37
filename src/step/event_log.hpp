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
    double lost = 0;       ///< bytes of sent messages that did not arrive: failed, cancelled, or in flight at the end
    double busy = 0;       ///< seconds of computing
    double cut_short = 0;  ///< seconds of `busy` whose result was lost in a failure or a cancellation
    double down = 0;       ///< seconds of outages
    double framework = 0;  ///< seconds in which the framework packed, unpacked or summed at the node
    std::int64_t outages = 0;
    std::int64_t restored = 0;  ///< times that the node continued from a checkpoint
    double lost_work = 0;       ///< seconds of computing since these checkpoints, which had to be repeated
    double checkpointing = 0;   ///< seconds of writing checkpoints, included in `busy`
    std::int64_t messages = 0, lost_messages = 0;
  };
  std::vector<NodeUse> nodes;

  struct Span {
    enum class Kind : std::uint8_t { compute, send, lost, down };
    Kind kind = Kind::compute;
    std::int32_t node = -1, peer = -1;  ///< peer: the other node of a message
    double begin = 0, end = 0;          ///< dates, seconds
    double bytes = 0;
    std::int64_t number = 0;  ///< number of the message, or of the first step computed
    std::string what;         ///< channel, or the computing node's role
    bool failed = false;
  };
  std::vector<Span> spans;  ///< sorted by end; as many as requested
  std::int64_t spans_left_out = 0;
  struct Outage {
    std::int32_t node = -1;
    double begin = 0, end = 0;  ///< seconds; `end` is the end of the run if the node was still down
  };
  std::vector<Outage> outages;  ///< outages of hosts, sorted by end; kMostOutages at most
  static constexpr std::size_t kMostOutages = 20'000;
  std::int64_t link_outages = 0;
  std::int64_t events = 0;
  double seconds = 0;  ///< seconds of the whole run
};

}  // namespace dadsim::step
