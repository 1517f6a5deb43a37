#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace testbed {

/// What a rank sends and receives at once, once it has computed. It goes on to its next round when all that it receives
/// in this one is there; it does not wait for what it sends.
struct Round {
  struct Part {
    std::int32_t peer = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Part> sends, receives;
  double computing = 0;  ///< seconds on a device of its own, during which connections go on
};

/// How a rank fared.
struct Outcome {
  double end = 0;                  ///< seconds: everything that it receives was there; negative: not in time
  std::int32_t retransmitted = 0;  ///< segments, over all its connections, since they were opened
  // Of the connection that it sends most over, in segments, at its end:
  std::int32_t window = 0, threshold = 0;
};

/// A host of the testbed: connections to others, one per pair, used both ways. Lives in the network namespace of its
/// own.
class Agent {
 public:
  /// `rank` of `ranks`; host i has the address 10.77.0.(i + 1).
  Agent(std::int32_t rank, std::int32_t ranks);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// To be called before any peer connects: who takes a connection has its congestion control from where it listens.
  /// One that is set on a connection that is there already leaves traces of the system's own: after BBR, cubic is
  /// paced.
  void listen_with(const std::string& congestion_control);
  /// Connects to the peers of higher rank in `peers`. Throws std::runtime_error.
  void connect_to(const std::vector<std::int32_t>& peers, const std::string& congestion_control);
  /// Takes the connections of the peers of lower rank in `peers`.
  void accept_from(const std::vector<std::int32_t>& peers);
  void close_all();

  /// Begins at `start` (seconds of now()), gives up at `deadline`.
  Outcome carry_out(const std::vector<Round>& rounds, double start, double deadline);

 private:
  struct Peer {
    int socket = -1;
    std::int64_t to_send = 0, received = 0, needed = 0;
    std::int64_t sent = 0;  ///< in all
    bool waits = false;     ///< for room in the socket
  };

  void push(Peer& peer);
  /// Sends and receives what is possible now, or within `seconds`.
  void attend(double seconds);
  void watch(const Peer& peer, std::int32_t number, int operation) const;
  void add(std::int32_t peer, int socket);

  std::int32_t rank_;
  std::vector<Peer> peers_;
  int listener_ = -1;
  int events_ = -1;
  std::vector<char> buffer_;
};

}  // namespace testbed
