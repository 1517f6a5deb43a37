#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace testbed {

/// Messages that a rank sends and receives at the same time, after computing. The next round begins once all messages
/// of this round have been received; sends are not awaited.
struct Round {
  struct Part {
    std::int32_t peer = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Part> sends, receives;
  double computing = 0;  ///< seconds of computing on a separate device, during which connections continue
};

/// Outcome of the rounds of a rank.
struct Outcome {
  double end = 0;                  ///< seconds at which all messages had been received; negative: not before the
                                   ///< deadline
  std::int32_t retransmitted = 0;  ///< segments of all connections since they were opened
  // Window and threshold, in segments, at the end of the rounds, of the connection that carries most of the rank's
  // bytes:
  std::int32_t window = 0, threshold = 0;
};

/// A host of the testbed, with one connection per pair, used in both directions. Each host has its own network
/// namespace.
class Agent {
 public:
  /// `rank` of `ranks`; host i has the address 10.77.0.(i + 1).
  Agent(std::int32_t rank, std::int32_t ranks);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// Sets the congestion control of accepted connections, which inherit it from the listening socket. The caller must
  /// call this before any peer connects. Setting it on an open connection would keep state of the system's default:
  /// cubic after BBR is paced.
  void listen_with(const std::string& congestion_control);
  /// Connects to the peers of higher rank in `peers`. Throws std::runtime_error.
  void connect_to(const std::vector<std::int32_t>& peers, const std::string& congestion_control);
  /// Accepts the connections of the peers of lower rank in `peers`.
  void accept_from(const std::vector<std::int32_t>& peers);
  void close_all();

  /// Executes the rounds from `start` on (seconds of now()); gives up at `deadline`.
  Outcome carry_out(const std::vector<Round>& rounds, double start, double deadline);

 private:
  struct Peer {
    int socket = -1;
    std::int64_t to_send = 0, received = 0, needed = 0;
    std::int64_t sent = 0;  ///< bytes sent so far
    bool waits = false;     ///< true: waits until the socket's buffer has room
  };

  void push(Peer& peer);
  /// Sends and receives as much as possible now, or within `seconds`.
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
