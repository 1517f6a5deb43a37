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

/// Work of a node: pieces of training steps of one worker, repeated, and additional seconds. Refers to the recorded
/// schedule, which a thousand clients can share.
struct Work {
  struct Piece {
    std::shared_ptr<const schedule::Schedule> schedule;
    step::Role who = step::Role::workers;  ///< role whose tasks are done
    std::size_t entry = 0;                 ///< worker of the schedule whose tasks are done; 0 for the aggregator
    std::size_t first = 0, behind = 0;     ///< range of tasks: [first, behind)
    double times = 1;
    std::int64_t samples = 0;  ///< samples of the learned network if the piece is a whole training step; otherwise 0
  };
  std::vector<Piece> pieces;
  double seconds = 0;        ///< additional measured seconds, on a device of nominal speed
  double group_seconds = 0;  ///< additional seconds of a group of devices, with their speeds and jitter already applied
  /// Number of the node's first training step in the work, from 0, which selects the jitter of each step. −1: not part
  /// of training, with the jitter of step 0.
  std::int64_t step = -1;
  std::int64_t steps = 1;
};

/// A collective of several nodes, as their devices' library carries it out.
struct Collective {
  step::CollectiveKind kind = step::CollectiveKind::all_reduce;  ///< all_reduce or all_gather
  std::vector<Node> nodes;                                       ///< ranks; at least two
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
    failed,     ///< a host or link of the activity went down, or was down from the start
    host_down,  ///< a host went down, with all activities there
    host_up,
  };
  Kind kind = Kind::done;
  Activity activity = 0;  ///< activity that is done or has failed
  Node node = -1;         ///< node whose host went down or came up
  double at = 0;          ///< date, seconds
};

/// Environment of protocols: nodes compute and exchange messages in simulated time, which advances only in next().
/// Requests return at once; an activity may start later, but counts from the date of its request.
///
/// *Ensures*: every activity ends in exactly one event, unless it was cancelled; events are in chronological order;
/// equal requests give equal events. Messages from one node to another arrive in sending order.
class World {
 public:
  virtual ~World() = default;

  /// Starts a computation on a node. Throws std::logic_error if the node is computing already.
  virtual Activity compute(Node node, const Work& work) = 0;
  /// Sends `bytes` from one node to another, concurrently with all other activities.
  virtual Activity send(Node from, Node to, double bytes) = 0;
  /// Starts a collective; `traffic` is set to the bytes that its ranks will send and receive. The collective fails when
  /// one of its nodes, or a link between two of them, goes down.
  virtual Activity collective(const Collective& what, CollectiveTraffic& traffic) = 0;
  /// Starts a timer of `seconds`.
  virtual Activity timer(double seconds) = 0;
  /// Cancels an activity, which then has no event. A message in transit is cut off, because its connection is closed.
  virtual void cancel(Activity activity) = 0;

  /// Takes a host down or up. While the host is down, activities at its nodes, and messages from and to them, fail.
  virtual void set_host(Node node, bool up) = 0;
  /// Takes a link down or up. While the link is down, messages over it fail. `link`: a name in the platform, in which *
  /// matches any characters. Throws std::invalid_argument if the World has no such link.
  virtual void set_link(const std::string& link, bool up) = 0;

  virtual bool is_up(Node node) const = 0;
  /// Returns the seconds of the work on the node, if the node's speed does not change meanwhile.
  virtual double seconds_of(Node node, const Work& work) = 0;

  /// Returns the next event, and advances simulated time to its date. Returns nothing if no activity is under way.
  virtual std::optional<Event> next() = 0;
  /// Returns the simulated seconds since the beginning.
  virtual double now() const = 0;
};

}  // namespace dadsim::world
