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

/// A World whose messages pass through a framework, for all event-driven methods. The sender packs messages, and the
/// receiver unpacks them. The server sums the messages that it receives; models that it sends wait until a round begins
/// and clients poll.
///
/// The messages at a node share its processor: one core of a client, all cores of the server (processor sharing, as
/// with threads). Sums are computed one after the other, which takes the same total time. Computations of the node are
/// not slowed down. If a node goes down, messages from or to it that are not in transit are lost. Messages of a pair
/// arrive in sending order: a message unpacked earlier waits. The inner World times collectives, including the
/// framework's part.
class FrameworkWorld final : public World {
 public:
  /// `server`: −1 if there is none. `model_bytes`: bytes of a message with a model. Messages of the server with at
  /// least half of these bytes are treated as models for a client.
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
  /// Jobs that share a processor. `v`: work that each job has received since the beginning (virtual time).
  struct Station {
    double cores = 1;
    double v = 0, at = 0;
    double busy = 0;
    std::multimap<double, Activity> jobs;  ///< jobs, by the value of `v` at which they are done
    Activity alarm = 0;                    ///< timer of the inner World; 0: no job
  };
  /// Stages of a message, in order. If parts are streamed, all stages but the first overlap.
  enum class Stage : std::uint8_t { waits, packs, travels, unpacks, is_summed };
  struct FrameworkMessage {
    Node from = -1, to = -1;
    double bytes = 0;
    Stage stage = Stage::waits;
    bool streams = false;
    int open = 0;        ///< number of open stages of a streamed message
    Activity inner = 0;  ///< timer or message of the inner World
    bool done = false;   ///< true: complete, but waits for earlier messages of the pair
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
  std::vector<Station> stations_;  ///< one station per node, then one for the server's sums
  std::map<Activity, FrameworkMessage> messages_;
  std::map<std::pair<Node, Node>, std::deque<Activity>> order_;  ///< messages of each pair that have not arrived
  std::unordered_map<Activity, Activity> message_of_;            ///< message of each timer or message of the inner
                                                                 ///< World
  std::unordered_map<Activity, std::size_t> station_at_;         ///< station of each timer of the inner World
  std::deque<Event> posted_;
  Activity last_ = 0;                                ///< number of the last message; negative, because the inner
                                                     ///< World's numbers are positive
  double handing_out_since_ = -1;                    ///< date of the last round
  std::int64_t handed_out_ = 0;                      ///< number of models sent in the last round
  std::map<std::pair<Node, Node>, double> used_at_;  ///< date at which each connection was last used
  std::int64_t cut_ = 0;
};

}  // namespace dadsim::world
