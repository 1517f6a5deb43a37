#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "step/event_log.hpp"
#include "world/outage_rules.hpp"

namespace dadsim::world {

/// Dates at which hosts and links go down and come up, for steps (study/absence) and for an UnreliableWorld alike. Only
/// the next change of each rule is drawn, so memory depends on the number of hosts and not on the simulated time.
class OutageCalendar {
 public:
  /// A host with its nodes, or a link, to which outages happen.
  struct Subject {
    std::string name;
    std::vector<std::size_t> nodes = {};  ///< nodes of the host; empty for a link
    std::vector<std::size_t> rules = {};
    int down = 0;       ///< number of rules that keep the subject down at present
    bool gone = false;  ///< true: a rule keeps the subject down for good
    double since = 0;
    std::int64_t went_down = 0;
  };
  /// Called when a subject goes down or comes up, also at date 0.
  using OnChange = std::function<void(const Subject& subject, bool up)>;

  /// Starts at date 0. Throws std::invalid_argument for a pattern that matches nothing. With `on_change`, changes of a
  /// host are skipped while another rule keeps the host down.
  explicit OutageCalendar(const Outages& outages, OnChange on_change = nullptr);

  double now() const { return now_; }
  bool is_up(std::size_t node) const { return subjects_[of_node_[node]].down == 0; }
  /// `link`: index in Outages::links.
  bool link_is_up(std::size_t link) const { return subjects_[hosts_ + link].down == 0; }
  /// Returns true if a node is down and will not come up again.
  bool is_gone(std::size_t node) const { return subjects_[of_node_[node]].gone; }
  /// Returns the number of times that a node's host has gone down since date 0.
  std::int64_t went_down(std::size_t node) const { return subjects_[of_node_[node]].went_down; }

  /// Returns true if all hosts and links are up.
  bool is_whole() const;
  /// Returns the number of links with a rule.
  std::size_t failing_links() const;

  /// Returns the date of the next change; infinity: none.
  double next_change() const;
  /// Returns true if a host will change again.
  bool hosts_change() const { return host_dates_ > 0; }
  /// Advances to the next change or to `date`, and applies all changes until then.
  void take_next_change() { take_changes_until(next_change()); }
  void take_changes_until(double date);
  /// Returns true if a rule may make the node drop out of a computation that begins now.
  bool may_drop_out(std::size_t node) const;
  /// Begins a computation of training that takes `seconds` from `begin` on. If the node drops out, adds the drop-out to
  /// the calendar. Returns the rules that cause it.
  std::vector<std::size_t> compute(std::size_t node, double begin, double seconds);
  /// Removes drop-outs of these rules, because the computation has ended before.
  void take_back(const std::vector<std::size_t>& rules);

  std::int64_t link_outages() const { return link_outages_; }
  std::int64_t drop_outs() const { return drop_outs_; }
  /// Returns the outages of nodes that begin before `end`, cut off at `end`, in the order of their ends.
  std::vector<step::EventLog::Outage> outages_until(double end) const;

 private:
  struct DueOutage {
    OutageRule rule;
    bool up = true;  ///< current state
    OutageProcess::RuleChange next = {};
  };
  bool is_dated(std::size_t rule) const { return dates_.contains({rules_[rule].next.at, rule}); }
  void date(std::size_t rule, OutageProcess::RuleChange change);
  void undate(std::size_t rule);
  bool can_drop_out(std::size_t rule) const { return rules_[rule].rule.drops_out != nullptr && !is_dated(rule); }
  void go_on(std::size_t rule);
  void skip_hidden_changes(Subject& host);
  void forget(const Subject& host);
  void change(std::size_t subject, bool up);

  OnChange on_change_;
  double now_ = 0;
  std::vector<std::size_t> of_node_;
  std::vector<Subject> subjects_;
  std::size_t hosts_ = 0;
  std::vector<DueOutage> rules_;
  std::set<std::pair<double, std::size_t>> dates_;  ///< date of each rule's next change, with the rule
  std::size_t host_dates_ = 0;                      ///< number of entries of dates_ that belong to hosts
  std::vector<step::EventLog::Outage> outages_;
  std::int64_t link_outages_ = 0, drop_outs_ = 0;
};

}  // namespace dadsim::world
