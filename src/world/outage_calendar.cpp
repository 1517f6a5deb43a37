#include "world/outage_calendar.hpp"

#include <algorithm>
#include <limits>

namespace dadsim::world {

OutageCalendar::OutageCalendar(const Outages& outages, OnChange on_change) : on_change_(std::move(on_change)) {
  const OutageSubjects subjects(outages);
  for (const std::string& name : subjects.names) subjects_.push_back({.name = name});
  of_node_ = subjects.of_node;
  hosts_ = subjects.hosts;
  for (std::size_t node = 0; node < of_node_.size(); ++node) subjects_[of_node_[node]].nodes.push_back(node);
  for (OutageRule& one : outage_rules(outages, subjects)) {
    const std::size_t rule = rules_.size();
    subjects_[one.subject].rules.push_back(rule);
    DueOutage& due = rules_.emplace_back(DueOutage{.rule = std::move(one)});
    due.up = due.rule.what->begins_up();
    if (!due.up) change(due.rule.subject, false);
    go_on(rule);
  }
  for (std::size_t host = 0; on_change_ && host < hosts_; ++host) skip_hidden_changes(subjects_[host]);
  // A host that is down at date 0 has lost no work, so this outage is not counted.
  for (Subject& subject : subjects_) subject.went_down = 0;
}

bool OutageCalendar::is_whole() const {
  return std::ranges::all_of(subjects_, [](const Subject& one) { return one.down == 0; });
}

std::size_t OutageCalendar::failing_links() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(subjects_, [](const Subject& one) { return one.nodes.empty() && !one.rules.empty(); }));
}

void OutageCalendar::date(std::size_t rule, OutageProcess::RuleChange change) {
  rules_[rule].next = change;
  dates_.emplace(change.at, rule);
  if (rules_[rule].rule.subject < hosts_) ++host_dates_;
}

void OutageCalendar::undate(std::size_t rule) {
  const bool was_dated = dates_.erase({rules_[rule].next.at, rule}) > 0;
  if (was_dated && rules_[rule].rule.subject < hosts_) --host_dates_;
}

void OutageCalendar::go_on(std::size_t rule) {
  DueOutage& due = rules_[rule];
  const auto change = due.rule.what->next();
  if (change) return date(rule, *change);
  if (!due.up) subjects_[due.rule.subject].gone = true;
}

/// Skips changes by other rules while one rule keeps the host down: they have no effect. Otherwise callers would wait
/// for a host that is down for good. A host is gone if one rule keeps it down for good, or if nothing brings it up
/// within kLongest or kMost changes.
void OutageCalendar::skip_hidden_changes(Subject& host) {
  constexpr double kLongest = 1000.0 * 86400;  // seconds; an EventLoop without progress stops long before
  constexpr std::int64_t kMost = 10'000'000;
  const double last = now_ + kLongest;
  for (std::int64_t passed = 0; host.down > 0; ++passed) {
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    std::size_t first = kNone;
    for (const std::size_t rule : host.rules) {
      if (!is_dated(rule)) {
        if (!rules_[rule].up) return forget(host);
        continue;
      }
      const double at = rules_[rule].next.at;
      if (first == kNone || std::pair(at, rule) < std::pair(rules_[first].next.at, first)) first = rule;
    }
    if (first == kNone) return;
    const OutageProcess::RuleChange next = rules_[first].next;
    // The computation may end before its drop-out; take_back() then removes this date.
    if ((next.up && host.down == 1) || (!next.up && rules_[first].rule.drops_out != nullptr)) return;
    undate(first);
    if (next.at > last || passed > kMost) continue;
    host.down += next.up ? -1 : 1;
    rules_[first].up = next.up;
    go_on(first);
  }
}

/// Removes the dates of a host that is gone, except drop-outs during computations, which take_back() removes.
void OutageCalendar::forget(const Subject& host) {
  for (const std::size_t rule : host.rules) {
    if (rules_[rule].rule.drops_out == nullptr || rules_[rule].next.up) undate(rule);
  }
}

double OutageCalendar::next_change() const {
  return dates_.empty() ? std::numeric_limits<double>::infinity() : dates_.begin()->first;
}

void OutageCalendar::take_changes_until(double date) {
  if (dates_.empty()) return;
  now_ = std::max(now_, date);
  while (!dates_.empty() && dates_.begin()->first <= now_) {
    const std::size_t rule = dates_.begin()->second;
    undate(rule);
    DueOutage& due = rules_[rule];
    due.up = due.next.up;
    if (!due.up && due.rule.drops_out != nullptr) ++drop_outs_;
    const bool up = due.up;
    go_on(rule);
    change(due.rule.subject, up);
    if (on_change_ && due.rule.subject < hosts_) skip_hidden_changes(subjects_[due.rule.subject]);
  }
}

void OutageCalendar::change(std::size_t subject, bool up) {
  Subject& of = subjects_[subject];
  const bool was_up = of.down == 0;
  of.down += up ? -1 : 1;
  if (was_up == (of.down == 0)) return;
  if (on_change_) on_change_(of, up);
  if (of.nodes.empty()) {
    if (!up) ++link_outages_;
    return;
  }
  if (!up) {
    of.since = now_;
    ++of.went_down;
    return;
  }
  for (const std::size_t node : of.nodes) {
    if (outages_.size() >= step::EventLog::kMostOutages) return;
    outages_.push_back({static_cast<std::int32_t>(node), of.since, now_});
  }
}

bool OutageCalendar::may_drop_out(std::size_t node) const {
  return is_up(node) &&
         std::ranges::any_of(subjects_[of_node_[node]].rules, [&](std::size_t rule) { return can_drop_out(rule); });
}

std::vector<std::size_t> OutageCalendar::compute(std::size_t node, double begin, double seconds) {
  std::vector<std::size_t> by;
  if (!is_up(node)) return by;
  for (const std::size_t rule : subjects_[of_node_[node]].rules) {
    if (!can_drop_out(rule)) continue;  // no drop-out rule, or its next drop-out has a date already
    const auto at = rules_[rule].rule.drops_out->within(begin, seconds);
    if (!at) continue;
    date(rule, {*at, false});
    by.push_back(rule);
  }
  return by;
}

void OutageCalendar::take_back(const std::vector<std::size_t>& rules) {
  for (const std::size_t rule : rules) {
    if (!rules_[rule].next.up) undate(rule);
  }
}

std::vector<step::EventLog::Outage> OutageCalendar::outages_until(double end) const {
  std::vector<step::EventLog::Outage> all;
  for (const step::EventLog::Outage& outage : outages_) {
    if (outage.begin < end) all.push_back({outage.node, outage.begin, std::min(outage.end, end)});
  }
  for (std::size_t subject = 0; subject < hosts_; ++subject) {
    const Subject& of = subjects_[subject];
    if (of.down == 0 || of.since >= end) continue;
    for (const std::size_t node : of.nodes) all.push_back({static_cast<std::int32_t>(node), of.since, end});
  }
  std::ranges::stable_sort(all, {}, &step::EventLog::Outage::end);
  return all;
}

}  // namespace dadsim::world
