#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "step/event_log.hpp"
#include "world/outage_rules.hpp"

namespace dadsim::world {

/// When hosts and links are up and down, for whoever walks through time without a World: with the same outages it is
/// the same hosts and links at the same times as in an UnreliableWorld.
class OutageCalendar {
 public:
  /// At date 0. Throws std::invalid_argument for a pattern that fits nothing.
  explicit OutageCalendar(const Outages& outages);

  double now() const { return now_; }
  bool is_up(std::size_t node) const { return subjects_[of_node_[node]].down == 0; }
  /// `link`: its place in Outages::links.
  bool link_is_up(std::size_t link) const { return subjects_[hosts_ + link].down == 0; }
  /// Whether a node is down, and will not come up again.
  bool is_gone(std::size_t node) const { return subjects_[of_node_[node]].gone; }
  /// How often a node's host has gone down since date 0.
  std::int64_t went_down(std::size_t node) const { return subjects_[of_node_[node]].went_down; }

  /// The date of what changes next; infinity: nothing does.
  double next_change() const;
  /// Goes on to that date: all that changes then has changed.
  void take_next_change();
  /// A node begins a computation of training of so many seconds at `begin`: it may drop out of it, which is a change
  /// then.
  void compute(std::size_t node, double begin, double seconds);

  std::int64_t link_outages() const { return link_outages_; }
  std::int64_t drop_outs() const { return drop_outs_; }
  /// Of nodes, those that are down until `end` among them, in the order of their ends.
  std::vector<step::EventLog::Outage> outages_until(double end) const;

 private:
  struct Subject {
    std::vector<std::size_t> nodes;
    int down = 0;       ///< how many rules say that it is
    bool gone = false;  ///< one of them says so to the end
    double since = 0;
    std::int64_t went_down = 0;
  };
  struct DueOutage {
    OutageRule rule;
    OutageProcess::RuleChange next = {};
  };
  void go_on(std::size_t rule, bool up);
  void change(std::size_t subject, bool up);

  double now_ = 0;
  std::vector<std::size_t> of_node_;
  std::vector<Subject> subjects_;
  std::size_t hosts_ = 0;
  std::vector<DueOutage> rules_;
  std::set<std::pair<double, std::size_t>> dates_;
  std::vector<step::EventLog::Outage> outages_;
  std::int64_t link_outages_ = 0, drop_outs_ = 0;
};

}  // namespace dadsim::world
