#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "world/world.hpp"

namespace dadsim::world {

/// A world with formulas in place of a network: a message takes a latency plus its bytes ÷ bandwidth, without
/// contention. Messages of a pair of nodes are sent in sequence. Tests of protocols use it, as its times can be
/// computed by hand.
class ClosedFormWorld final : public World {
 public:
  struct SiteLine {
    double latency = 0;                                          ///< seconds
    double bandwidth = std::numeric_limits<double>::infinity();  ///< byte/s
  };
  struct Rules {
    std::size_t nodes = 0;
    std::function<SiteLine(Node from, Node to)> line;            ///< bandwidth and latency of a pair of nodes; empty:
                                                                 ///< messages take no time
    std::function<double(Node node, const Work& work)> seconds;  ///< seconds of a computation; empty: no time
    std::function<std::string(Node from, Node to)> link;         ///< name of the line's only link; empty: no link
  };
  explicit ClosedFormWorld(Rules rules) : rules_(std::move(rules)), up_(rules_.nodes, true), computes_(rules_.nodes) {}

  Activity compute(Node node, const Work& work) override;
  Activity send(Node from, Node to, double bytes) override;
  /// Simulates a ring, whose slowest line determines the time of every round. A reduction or a broadcast passes the
  /// whole vector along the ring once.
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
    Node from = -1, to = -1;  ///< `from` equals `to` for a computation; both are −1 for a wait
    bool message = false;
    std::vector<Node> ring = {};  ///< ranks of a collective, in the order of the ring
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
  std::vector<Event> posted_;  ///< events delivered before all others
  std::size_t reported_ = 0;
  std::map<std::pair<Node, Node>, double> free_at_;  ///< time at which a line has sent all its messages
  std::vector<bool> up_, computes_;                  ///< per node
  std::set<std::string> links_down_;
};

inline Activity ClosedFormWorld::begin(ParcelUnderway underway) {
  const Activity activity = ++last_;
  dates_.emplace(underway.date, activity);
  underway_[activity] = underway;
  return activity;
}

inline void ClosedFormWorld::end(Activity activity, bool failed) {
  const auto found = underway_.find(activity);
  dates_.erase({found->second.date, activity});
  if (!found->second.message && found->second.from >= 0)
    computes_[static_cast<std::size_t>(found->second.from)] = false;
  underway_.erase(found);
  if (failed) post({.kind = Event::Kind::failed, .activity = activity, .at = now_});
}

inline void ClosedFormWorld::post(Event event) { posted_.push_back(event); }

inline Activity ClosedFormWorld::compute(Node node, const Work& work) {
  if (computes_[static_cast<std::size_t>(node)]) throw std::logic_error("a node already computes");
  computes_[static_cast<std::size_t>(node)] = true;
  const double seconds = rules_.seconds ? rules_.seconds(node, work) : 0;
  const Activity activity = begin({now_ + seconds, node, node, false});
  if (!up_[static_cast<std::size_t>(node)]) end(activity, true);
  return activity;
}

inline Activity ClosedFormWorld::send(Node from, Node to, double bytes) {
  const SiteLine line = rules_.line && from != to ? rules_.line(from, to) : SiteLine{};
  double& free_at = free_at_[{from, to}];
  free_at = std::max(free_at, now_) + bytes / line.bandwidth;
  const Activity activity = begin({free_at + line.latency, from, to, true});
  const bool linked = !rules_.link || from == to || !links_down_.contains(rules_.link(from, to));
  if (!linked || !up_[static_cast<std::size_t>(from)] || !up_[static_cast<std::size_t>(to)]) end(activity, true);
  return activity;
}

inline Activity ClosedFormWorld::collective(const Collective& what, CollectiveTraffic& traffic) {
  const std::size_t ranks = what.nodes.size();
  const bool sums = what.kind == step::CollectiveKind::all_reduce;
  const bool up = what.kind == step::CollectiveKind::reduce, down = what.kind == step::CollectiveKind::broadcast;
  const auto rounds = static_cast<double>(ranks - 1) * (sums ? 2 : 1);
  const double block = sums ? what.bytes / static_cast<double>(ranks) : what.bytes;
  double slowest = 0;
  for (std::size_t i = 0; i < ranks && rules_.line; ++i) {
    const SiteLine line = rules_.line(what.nodes[i], what.nodes[(i + 1) % ranks]);
    slowest = std::max(slowest, line.latency + block / line.bandwidth);
  }
  traffic.sent.assign(ranks, rounds * block);
  traffic.received = traffic.sent;
  if (up || down) {  // the ring is a chain that ends (reduction) or begins (broadcast) at the first rank
    traffic.sent.assign(ranks, block);
    traffic.received.assign(ranks, block);
    (up ? traffic.sent : traffic.received).front() = 0;
    (up ? traffic.received : traffic.sent).back() = 0;
  }
  const Activity activity = begin({now_ + rounds * slowest, -1, -1, false, what.nodes});
  const auto is_down = [this](Node node) { return !up_[static_cast<std::size_t>(node)]; };
  if (std::ranges::any_of(what.nodes, is_down) || crosses(underway_.at(activity), links_down_)) end(activity, true);
  return activity;
}

inline bool ClosedFormWorld::crosses(const ParcelUnderway& one, const std::set<std::string>& links) const {
  if (!rules_.link) return false;
  for (std::size_t i = 0; i < one.ring.size(); ++i) {
    if (links.contains(rules_.link(one.ring[i], one.ring[(i + 1) % one.ring.size()]))) return true;
  }
  return one.message && one.from != one.to && links.contains(rules_.link(one.from, one.to));
}

inline Activity ClosedFormWorld::timer(double seconds) { return begin({now_ + seconds}); }

inline void ClosedFormWorld::cancel(Activity activity) {
  if (underway_.contains(activity)) end(activity, false);
  std::erase_if(posted_, [&, i = std::size_t{0}](const Event& event) mutable {
    return i++ >= reported_ && event.activity == activity;
  });
}

inline void ClosedFormWorld::set_host(Node node, bool up) {
  if (up_[static_cast<std::size_t>(node)] == up) return;
  up_[static_cast<std::size_t>(node)] = up;
  post({.kind = up ? Event::Kind::host_up : Event::Kind::host_down, .node = node, .at = now_});
  if (up) return;
  std::vector<Activity> lost;
  for (const auto& [activity, one] : underway_) {
    const bool takes_part = std::ranges::find(one.ring, node) != one.ring.end();
    if (one.from == node || one.to == node || takes_part) lost.push_back(activity);
  }
  for (const Activity activity : lost) end(activity, true);
}

inline void ClosedFormWorld::set_link(const std::string& link, bool up) {
  if (!rules_.link) throw std::invalid_argument("this world has no links");
  if (up) {
    links_down_.erase(link);
    return;
  }
  links_down_.insert(link);
  std::vector<Activity> lost;
  for (const auto& [activity, one] : underway_) {
    if (crosses(one, {link})) lost.push_back(activity);
  }
  for (const Activity activity : lost) end(activity, true);
}

inline std::optional<Event> ClosedFormWorld::next() {
  if (reported_ < posted_.size()) return posted_[reported_++];
  posted_.clear();
  reported_ = 0;
  if (dates_.empty()) return std::nullopt;
  const auto [date, activity] = *dates_.begin();
  now_ = date;
  end(activity, false);
  return Event{.kind = Event::Kind::done, .activity = activity, .at = now_};
}

}  // namespace dadsim::world
