#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

namespace testbed {

/// One direction of a line: frames wait in a drop-tail queue, leave at the rate, and are there a delay later.
struct Line {
  double bytes_per_second = 0;  ///< of the wire
  double delay = 0;             ///< seconds, one way
  double queue = 0;             ///< bytes of the wire, the frame that is leaving included
};

/// What a frame has on the wire beside its IP packet: the header of Ethernet.
inline constexpr double kEthernet = 14;

/// Takes IP packets from the TUN devices of hosts and hands them to others, each over the lines of its way. A line's
/// dates are worked out from one another, not from the clock: what it takes the shaper to wake up delays a frame once,
/// and does not add up from line to line nor from frame to frame.
class Shaper {
 public:
  /// `devices`: file descriptors, by host, which stay their owner's. `ways[from * hosts + to]`: lines in order. Host i
  /// has the address 10.77.0.(i + 1).
  Shaper(std::vector<int> devices, std::vector<Line> lines, std::vector<std::vector<int>> ways);

  /// Until stop() is called. To be run in a thread of real-time priority.
  void run();
  void stop() { stopped_ = true; }

  std::int64_t dropped() const { return dropped_; }  ///< frames that found a queue full
  std::int64_t refused() const { return refused_; }  ///< frames that a device did not take; should be 0
  double most_late() const {
    return 1e-9 * static_cast<double>(late_ns_.load());
  }  ///< seconds between when a frame was due and when it was handed over
  void reset_most_late() { late_ns_ = 0; }

 private:
  struct Packet {
    std::array<std::byte, 1600> bytes;
    std::size_t length = 0;
    std::size_t next = 0;  ///< line of its way
    const std::vector<int>* way = nullptr;
    int to = 0;
  };
  struct Event {
    double date;
    std::uint64_t serial;
    Packet* packet;
    bool operator>(const Event& other) const { return date != other.date ? date > other.date : serial > other.serial; }
  };

  bool take(std::size_t host, double now);
  void advance(Packet* packet, double date);
  void hand_over(Packet* packet, double date);

  std::vector<int> devices_;
  std::vector<Line> lines_;
  std::vector<std::vector<int>> ways_;
  std::vector<double> free_;  ///< seconds: when a line is through with what it has
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::unique_ptr<Packet>> all_;
  std::vector<Packet*> spare_;
  std::uint64_t serial_ = 0;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::int64_t> dropped_ = 0, refused_ = 0, late_ns_ = 0;
};

/// Seconds of the clock that all processes of the machine share.
double now();

}  // namespace testbed
