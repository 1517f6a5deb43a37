#include "world/outage_calendar.hpp"

#include <algorithm>
#include <limits>

namespace dadsim::world {

OutageCalendar::OutageCalendar(const Outages& outages) {
  const OutageSubjects subjects(outages);
  subjects_.resize(subjects.names.size());
  of_node_ = subjects.of_node;
  hosts_ = subjects.hosts;
  for (std::size_t node = 0; node < of_node_.size(); ++node) subjects_[of_node_[node]].nodes.push_back(node);
  for (OutageRule& rule : outage_rules(outages, subjects)) {
    rules_.push_back({std::move(rule)});
    const bool up = rules_.back().rule.what->begins_up();
    if (!up) change(rules_.back().rule.subject, false);
    go_on(rules_.size() - 1, up);
  }
  // Who is not there at the beginning has not lost anything.
  for (Subject& subject : subjects_) subject.went_down = 0;
}

/// `up`: what the rule says until its next change.
void OutageCalendar::go_on(std::size_t rule, bool up) {
  const auto change = rules_[rule].rule.what->next();
  if (!change && !up) subjects_[rules_[rule].rule.subject].gone = true;
  if (!change) return;
  rules_[rule].next = *change;
  dates_.emplace(change->at, rule);
}

double OutageCalendar::next_change() const {
  return dates_.empty() ? std::numeric_limits<double>::infinity() : dates_.begin()->first;
}

void OutageCalendar::take_next_change() {
  if (dates_.empty()) return;
  now_ = std::max(now_, dates_.begin()->first);
  while (!dates_.empty() && dates_.begin()->first <= now_) {
    const std::size_t rule = dates_.begin()->second;
    dates_.erase(dates_.begin());
    DueOutage& due = rules_[rule];
    const bool up = due.next.up;
    if (!up && due.rule.drops_out != nullptr) ++drop_outs_;
    go_on(rule, up);
    change(due.rule.subject, up);
  }
}

void OutageCalendar::change(std::size_t subject, bool up) {
  Subject& of = subjects_[subject];
  const bool was_up = of.down == 0;
  of.down += up ? -1 : 1;
  if (was_up == (of.down == 0)) return;
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

void OutageCalendar::compute(std::size_t node, double begin, double seconds) {
  if (!is_up(node) || !(seconds > 0)) return;
  for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
    DueOutage& due = rules_[rule];
    if (due.rule.drops_out == nullptr || due.rule.subject != of_node_[node]) continue;
    if (dates_.contains({due.next.at, rule})) continue;  // it is on its way already
    if (const auto date = due.rule.drops_out->within(begin, seconds)) {
      due.next = {*date, false};
      dates_.emplace(*date, rule);
    }
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
