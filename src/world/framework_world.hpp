#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spec/framework_specification.hpp"
#include "world/world.hpp"

namespace dadsim::world {

/// A World whose messages pass through a framework, for all event-driven methods. Messages are packed at the sender and
/// unpacked at the receiver. Messages to the server are added to its sum; models that it hands out wait until a round
/// begins and clients ask.
///
/// The messages at a node share its processor: one core of a client, all cores of the server (processor sharing, as
/// threads do). Sums are formed one after the other, which takes as long in all. None of this delays the node's
/// computations. A node that goes down loses the messages packed there. Messages of a pair arrive in the order in which
/// they were sent: a message unpacked sooner waits. The inner World times a collective with the framework's part.
class FrameworkWorld final : public World {
 public:
  /// `server`: −1 if there is none. `model_bytes`: bytes of a message with a model; a message of the server of at least
  /// half of that counts as a model for a client.
  FrameworkWorld(World& inner, spec::FrameworkSpec framework, std::size_t nodes, Node server, double model_bytes);

  Activity compute(Node node, const Work& work) override { return inner_.compute(node, work); }
  Activity send(Node from, Node to, double bytes) override;
  Activity collective(const Collective& what, CollectiveTraffic& traffic) override;
  Activity timer(double seconds) override { return inner_.timer(seconds); }
  void cancel(Activity activity) override;
  void set_host(Node node, bool up) override { inner_.set_host(node, up); }
  void set_link(const std::string& link, bool up) override { inner_.set_link(link, up); }
  bool is_up(Node node) const override { return inner_.is_up(node); }
  double seconds_of(Node node, const Work& work) override { return inner_.seconds_of(node, work); }
  std::optional<Event> next() override;
  double now() const override { return inner_.now(); }

  /// Returns the seconds in which the framework was busy at the node.
  double busy(Node node) const;
  std::int64_t cut_connections() const { return cut_; }

 private:
  /// Jobs that share a processor. `v`: work that each job has received since the beginning.
  struct Station {
    double cores = 1;
    double v = 0, at = 0;
    double busy = 0;
    std::multimap<double, Activity> jobs;  ///< jobs, by the `v` at which they are done
    Activity alarm = 0;                    ///< timer of the inner World; 0: no job
  };
  /// Stages of a message, in order. If parts are streamed, all stages but the first overlap.
  enum class Stage : std::uint8_t { waits, packs, travels, unpacks, is_summed };
  struct FrameworkMessage {
    Node from = -1, to = -1;
    double bytes = 0;
    Stage stage = Stage::waits;
    bool streams = false;
    int open = 0;        ///< open stages of a streamed message
    Activity inner = 0;  ///< timer or message of the inner World
    bool done = false;   ///< complete, and waits for messages sent before it
  };

  bool is_cut(Node from, Node to);
  double departure(Node from, Node to, double bytes);
  void begin(Activity id, Stage stage);
  void stage_done(Activity id);
  double work_of(const FrameworkMessage& message, Stage stage) const;
  Station& station_of(const FrameworkMessage& message, Stage stage);
  void add(Station& station, Activity id, double work);
  void advance(Station& station) const;
  void arm(Station& station);
  void ring(Station& station);
  void forget(Activity id);
  void end(Activity id, bool failed);
  void release(const std::pair<Node, Node>& pair);
  void went_down(Node node);

  World& inner_;
  spec::FrameworkSpec framework_;
  Node server_;
  double model_bytes_;
  std::vector<Station> stations_;  ///< stations of the nodes, then one for the server's sums
  std::map<Activity, FrameworkMessage> messages_;
  std::map<std::pair<Node, Node>, std::deque<Activity>> order_;  ///< messages of each pair that have not arrived
  std::unordered_map<Activity, Activity> message_of_;            ///< message, by the timer or message of the inner
                                                                 ///< World
  std::unordered_map<Activity, std::size_t> station_at_;         ///< station, by the timer of the inner World
  std::deque<Event> posted_;
  Activity last_ = 0;                                ///< number of the last message; below zero, as numbers of the
                                                     ///< inner World are above
  double handing_out_since_ = -1;                    ///< date of the last round
  std::int64_t handed_out_ = 0;                      ///< models sent in the last round
  std::map<std::pair<Node, Node>, double> used_at_;  ///< date at which each connection was last used
  std::int64_t cut_ = 0;
};

}  // namespace dadsim::world
