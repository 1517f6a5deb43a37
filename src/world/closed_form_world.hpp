#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "world/world.hpp"

namespace dadsim::world {

/// World of formulas: a message takes a latency plus its bytes ÷ bandwidth, without contention. Messages of a pair of
/// nodes follow one another. For tests of protocols, and for results that can be computed by hand.
class ClosedFormWorld final : public World {
 public:
  struct SiteLine {
    double latency = 0;                                          ///< seconds
    double bandwidth = std::numeric_limits<double>::infinity();  ///< byte/s
  };
  struct Rules {
    std::size_t nodes = 0;
    std::function<SiteLine(Node from, Node to)> line;            ///< none: no time at all
    std::function<double(Node node, const Work& work)> seconds;  ///< seconds of a computation; none: no time
    std::function<std::string(Node from, Node to)> link;         ///< name of the line's only link; none: none
  };
  explicit ClosedFormWorld(Rules rules) : rules_(std::move(rules)), up_(rules_.nodes, true), computes_(rules_.nodes) {}

  Activity compute(Node node, const Work& work) override;
  Activity send(Node from, Node to, double bytes) override;
  /// Around a ring, whose slowest line sets the pace of every round.
  Activity collective(const Collective& what, CollectiveTraffic& traffic) override;
  Activity timer(double seconds) override;
  void cancel(Activity activity) override;
  void set_host(Node node, bool up) override;
  void set_link(const std::string& link, bool up) override;
  bool is_up(Node node) const override { return up_[static_cast<std::size_t>(node)]; }
  double seconds_of(Node node, const Work& work) override { return rules_.seconds ? rules_.seconds(node, work) : 0; }
  std::optional<Event> next() override;
  double now() const override { return now_; }

 private:
  struct ParcelUnderway {
    double date = 0;
    Node from = -1, to = -1;  ///< equal for a computation; −1 for a wait
    bool message = false;
    std::vector<Node> ring = {};  ///< ranks of a collective
  };
  Activity begin(ParcelUnderway underway);
  void end(Activity activity, bool failed);
  void post(Event event);
  bool crosses(const ParcelUnderway& one, const std::set<std::string>& links) const;

  Rules rules_;
  double now_ = 0;
  Activity last_ = 0;
  std::map<Activity, ParcelUnderway> underway_;
  std::set<std::pair<double, Activity>> dates_;
  std::vector<Event> posted_;  ///< to be told before anything else happens
  std::size_t reported_ = 0;
  std::map<std::pair<Node, Node>, double> free_at_;  ///< when the line has sent what it was handed
  std::vector<bool> up_, computes_;                  ///< per node
  std::set<std::string> links_down_;
};

}  // namespace dadsim::world
