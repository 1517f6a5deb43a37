#include "world/outages.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace dadsim::world {

UnreliableWorld::UnreliableWorld(World& inner, Outages outages) : inner_(inner) {
  const OutageSubjects subjects(outages);
  for (const std::string& name : subjects.names) subjects_.push_back({.name = name, .nodes = {}});
  for (const std::size_t host : subjects.of_node) {
    subjects_[host].nodes.push_back(static_cast<Node>(subject_of_.size()));
    subject_of_.push_back(host);
  }
  hosts_ = subjects.hosts;
  drops_out_.resize(outages.hosts.size());
  for (OutageRule& rule : outage_rules(outages, subjects)) add(std::move(rule));
  for (std::size_t host = 0; host < hosts_; ++host) pass_what_nobody_sees(host);
}

void UnreliableWorld::add(OutageRule rule) {
  const std::size_t process = processes_.size();
  if (rule.drops_out != nullptr) {
    for (const Node node : subjects_[rule.subject].nodes) {
      drops_out_[static_cast<std::size_t>(node)] = {rule.drops_out, process};
    }
  }
  subjects_[rule.subject].processes.push_back(process);
  processes_.push_back({.subject = rule.subject, .drops_out = rule.drops_out != nullptr, .what = std::move(rule.what)});
  processes_[process].up = processes_[process].what->begins_up();
  if (!processes_[process].up) change(subjects_[rule.subject], false);
  go_on(process);
}

void UnreliableWorld::go_on(std::size_t process) {
  if (const auto change = processes_[process].what->next()) schedule(process, *change);
}

void UnreliableWorld::schedule(std::size_t process, OutageProcess::RuleChange change) {
  processes_[process].next = change;
  dates_.emplace(change.at, process);
  if (processes_[process].subject < hosts_) ++host_dates_;
}

/// What the rules of a host say while another of them keeps it down, taken at once: nobody sees it, and a host that has
/// left for good would otherwise be waited for as long as its days have nights. A host that one rule keeps down for
/// good is gone, and so is taken one that nothing brings up within kLongest, or kMost changes.
void UnreliableWorld::pass_what_nobody_sees(std::size_t subject) {
  OutageSubject& host = subjects_[subject];
  constexpr double kLongest = 1000.0 * 86400;  // seconds; an EventLoop without progress gives up long before
  constexpr std::int64_t kMost = 10'000'000;
  const double last = now() + kLongest;
  for (std::int64_t passed = 0; host.down > 0; ++passed) {
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    std::size_t first = kNone;
    bool gone = false;
    for (const std::size_t process : host.processes) {
      const double at = processes_[process].next.at;
      if (!dates_.contains({at, process})) {
        gone = gone || !processes_[process].up;
        continue;
      }
      if (first == kNone || std::pair(at, process) < std::pair(processes_[first].next.at, first)) first = process;
    }
    if (gone) return forget(host);
    if (first == kNone) return;
    const OutageProcess::RuleChange next = processes_[first].next;
    // A drop-out is of a computation, which may end before it: ended() takes it back.
    if ((next.up && host.down == 1) || (!next.up && processes_[first].drops_out)) return;
    host_dates_ -= dates_.erase({next.at, first});
    if (next.at > last || passed > kMost) continue;
    host.down += next.up ? -1 : 1;
    processes_[first].up = next.up;
    go_on(first);
  }
}

/// Of a host that is gone no more is asked. A computation that it drops out of is taken back by ended().
void UnreliableWorld::forget(const OutageSubject& host) {
  for (const std::size_t process : host.processes) {
    const SubjectProcess& one = processes_[process];
    if (!one.drops_out || one.next.up) host_dates_ -= dates_.erase({one.next.at, process});
  }
}

/// What is due at the date of the alarm.
void UnreliableWorld::carry_out() {
  alarm_ = 0;
  while (!dates_.empty() && dates_.begin()->first <= alarm_at_) {
    const std::size_t process = dates_.begin()->second;
    dates_.erase(dates_.begin());
    SubjectProcess& due = processes_[process];
    if (due.subject < hosts_) --host_dates_;
    const bool up = due.next.up;
    due.up = up;
    if (!up && due.drops_out) ++drop_outs_;
    go_on(process);
    change(subjects_[due.subject], up);
    if (due.subject < hosts_) pass_what_nobody_sees(due.subject);
  }
}

void UnreliableWorld::change(OutageSubject& subject, bool up) {
  const bool was_up = subject.down == 0;
  subject.down += up ? -1 : 1;
  if (was_up == (subject.down == 0)) return;
  for (const Node node : subject.nodes) set_host(node, up);
  if (!subject.nodes.empty()) return;
  inner_.set_link(subject.name, up);
  if (!up) ++link_outages_;
}

bool UnreliableWorld::is_whole() const {
  return std::ranges::all_of(subjects_, [](const OutageSubject& one) { return one.down == 0; });
}

std::size_t UnreliableWorld::failing_links() const {
  std::set<std::size_t> links;
  for (const SubjectProcess& process : processes_) {
    if (process.subject >= hosts_) links.insert(process.subject);
  }
  return links.size();
}

void UnreliableWorld::arm() {
  if (dates_.empty()) return;
  const double first = dates_.begin()->first;
  if (alarm_ != 0 && alarm_at_ <= first) return;
  if (alarm_ != 0) inner_.cancel(alarm_);
  alarm_at_ = first;
  alarm_ = inner_.timer(std::max(0.0, first - now()));
}

// ---- what the caller orders ----

Activity UnreliableWorld::compute(Node node, const Work& work) {
  ++underway_;
  const Activity activity = inner_.compute(node, work);
  const DropsOut& drops_out = drops_out_[static_cast<std::size_t>(node)];
  // What belongs to no training is short, and not what a user walks away from.
  if (drops_out.what == nullptr || work.step < 0 || !is_up(node)) return activity;
  if (dates_.contains({processes_[drops_out.process].next.at, drops_out.process})) return activity;
  if (const auto date = drops_out.what->within(now(), inner_.seconds_of(node, work))) {
    schedule(drops_out.process, {*date, false});
    in_the_midst_[activity] = drops_out.process;
  }
  return activity;
}

Activity UnreliableWorld::send(Node from, Node to, double bytes) {
  ++underway_;
  return inner_.send(from, to, bytes);
}

Activity UnreliableWorld::timer(double seconds) {
  ++underway_;
  return inner_.timer(seconds);
}

void UnreliableWorld::cancel(Activity activity) {
  inner_.cancel(activity);
  ended(activity);
}

void UnreliableWorld::set_host(Node node, bool up) {
  if (inner_.is_up(node) != up) ++reported_;
  inner_.set_host(node, up);
}

/// The computation has ended before its node would have dropped out of it.
void UnreliableWorld::ended(Activity activity) {
  --underway_;
  const auto found = in_the_midst_.find(activity);
  if (found == in_the_midst_.end()) return;
  const std::size_t process = found->second;
  in_the_midst_.erase(found);
  const OutageProcess::RuleChange& next = processes_[process].next;
  if (!next.up) host_dates_ -= dates_.erase({next.at, process});
}

std::optional<Event> UnreliableWorld::next() {
  for (;;) {
    if (underway_ == 0 && reported_ == 0 && host_dates_ == 0) return std::nullopt;
    arm();
    std::optional<Event> event = inner_.next();
    if (!event) return std::nullopt;
    if (event->kind == Event::Kind::host_down || event->kind == Event::Kind::host_up) {
      --reported_;
      return event;
    }
    if (event->activity == alarm_) {
      carry_out();
      continue;
    }
    ended(event->activity);
    return event;
  }
}

}  // namespace dadsim::world
