#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace dadsim::world {

/// Number of a participant: workers 0 … n − 1, then the aggregator if there is one.
using Node = std::int32_t;

/// Number of a computation, message, collective or timer; 0: none.
using Activity = std::int64_t;

/// Work of a node: parts of training steps of one worker, repeated, and seconds. Refers to the recorded schedule, so
/// that a thousand clients share it.
struct Work {
  struct Piece {
    std::shared_ptr<const schedule::Schedule> schedule;
    step::Role who = step::Role::workers;  ///< role whose tasks count
    std::size_t entry = 0;                 ///< worker of the schedule whose tasks count; 0 for the aggregator
    std::size_t first = 0, behind = 0;     ///< range of tasks: from `first` to before `behind`
    double times = 1;
    std::int64_t samples = 0;  ///< learned samples, if the piece is a whole training step; otherwise 0
  };
  std::vector<Piece> pieces;
  double seconds = 0;        ///< measured seconds in addition to the pieces, on a device of nominal speed
  double group_seconds = 0;  ///< seconds of a group of devices in addition, including their speeds and jitter
  /// Number of the node's first training step in the work, from 0: with jitter, each step has its own factor. −1: not
  /// part of training, with the factor of step 0.
  std::int64_t step = -1;
  std::int64_t steps = 1;
};

/// A collective of several nodes by the library of their devices.
struct Collective {
  step::CollectiveKind kind = step::CollectiveKind::all_reduce;  ///< kind: all_reduce or all_gather
  std::vector<Node> nodes;                                       ///< ranks, at least two
  double bytes = 0;  ///< bytes of every rank: the vector of a sum, or the block that other ranks get
  std::string algorithm = "auto";
};

/// Bytes that each rank of a collective sends and receives.
struct CollectiveTraffic {
  std::vector<double> sent, received;
};

struct Event {
  enum class Kind : std::uint8_t {
    done,       ///< a computation or timer has ended, or a message has arrived
    failed,     ///< a host or link of the activity went down, or was down
    host_down,  ///< a host went down, with all activities there
    host_up,
  };
  Kind kind = Kind::done;
  Activity activity = 0;  ///< activity that is done or has failed
  Node node = -1;         ///< node whose host went down or came up
  double at = 0;          ///< seconds
};

/// Environment of protocols: nodes compute and exchange messages in simulated time, which advances only in next().
/// Requests are accepted at once; they may be carried out later, but with the date at which they were made.
///
/// *Ensures*: every activity ends in just one event, unless it was cancelled; events come in the order of their times;
/// the same requests give the same events. Messages from one node to another arrive in the order in which they were
/// sent.
class World {
 public:
  virtual ~World() = default;

  /// Starts a computation on a node. Several at a time on one node are an error of the caller: std::logic_error.
  virtual Activity compute(Node node, const Work& work) = 0;
  /// Sends `bytes` from one node to another, next to all other activities.
  virtual Activity send(Node from, Node to, double bytes) = 0;
  /// Starts a collective, and returns in `traffic` what its ranks will have sent and received. It fails when one of
  /// its nodes goes down, or a link between two of them.
  virtual Activity collective(const Collective& what, CollectiveTraffic& traffic) = 0;
  /// Starts a timer of `seconds`.
  virtual Activity timer(double seconds) = 0;
  /// Cancels an activity, which then has no event. A message under way is cut off: its connection is closed.
  virtual void cancel(Activity activity) = 0;

  /// Takes a host down or up. While it is down, activities at the node, and messages from and to it, fail.
  virtual void set_host(Node node, bool up) = 0;
  /// Takes a link down or up. While it is down, messages over it fail. `link`: a name of the platform, in which *
  /// stands for anything. Throws std::invalid_argument if the World knows no such link.
  virtual void set_link(const std::string& link, bool up) = 0;

  virtual bool is_up(Node node) const = 0;
  /// Returns the seconds of the work on the node if nothing changes meanwhile.
  virtual double seconds_of(Node node, const Work& work) = 0;

  /// Returns the next event, and advances simulated time to it; nothing if no activity is under way.
  virtual std::optional<Event> next() = 0;
  /// Returns the seconds since the beginning.
  virtual double now() const = 0;
};

}  // namespace dadsim::world
