#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

namespace testbed {

/// One direction of a line: a frame waits in a drop-tail queue, leaves at the line's rate, and arrives a delay later.
struct Line {
  double bytes_per_second = 0;  ///< of bytes on the wire, which include Ethernet headers
  double delay = 0;             ///< seconds in one direction
  double queue = 0;             ///< bytes on the wire, including those of the frame that is leaving
};

/// Bytes on the wire per frame in addition to the IP packet: the Ethernet header.
inline constexpr double kEthernet = 14;

/// Reads IP packets from the TUN devices of hosts and writes them to other hosts' devices, over the lines of their
/// route. Dates on a line follow from one another and not from the clock. The shaper's own delay therefore counts once
/// per frame, and does not add up over lines or frames.
class Shaper {
 public:
  /// `devices`: one file descriptor per host, which the caller must close. `ways[from * hosts + to]`: the lines of a
  /// route, in order. Host i has the address 10.77.0.(i + 1).
  Shaper(std::vector<int> devices, std::vector<Line> lines, std::vector<std::vector<int>> ways);

  /// Forwards packets until stop() is called. The caller should run it in a thread with real-time priority.
  void run();
  void stop() { stopped_ = true; }

  std::int64_t dropped() const { return dropped_; }  ///< frames dropped at a full queue
  std::int64_t refused() const { return refused_; }  ///< frames that a device did not accept; should be 0
  double most_late() const {
    return 1e-9 * static_cast<double>(late_ns_.load());
  }  ///< largest delay in seconds that the shaper itself added to a frame
  void reset_most_late() { late_ns_ = 0; }

 private:
  struct Packet {
    std::array<std::byte, 1600> bytes;
    std::size_t length = 0;
    std::size_t next = 0;  ///< index of the next line on the frame's route
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
  std::vector<double> free_;  ///< date at which each line has sent all its frames, seconds
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::unique_ptr<Packet>> all_;
  std::vector<Packet*> spare_;
  std::uint64_t serial_ = 0;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::int64_t> dropped_ = 0, refused_ = 0, late_ns_ = 0;
};

/// Returns the seconds of the machine's monotonic clock, which is the same for all processes.
double now();

}  // namespace testbed
