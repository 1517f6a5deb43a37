#include "world/outages.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "support/pattern.hpp"
#include "support/random.hpp"

namespace dadsim::world {

using spec::AvailabilitySpec;

UnreliableWorld::UnreliableWorld(World& inner, Outages outages) : inner_(inner) {
  std::map<std::string, std::size_t> known;
  for (const std::string& host : outages.hosts) {
    const auto [position, added] = known.try_emplace(host, subjects_.size());
    if (added) subjects_.push_back({.name = host, .nodes = {}});
    subjects_[position->second].nodes.push_back(static_cast<Node>(subject_of_.size()));
    subject_of_.push_back(position->second);
  }
  hosts_ = subjects_.size();
  drops_out_.resize(outages.hosts.size());
  for (const std::string& link : outages.links) subjects_.push_back({.name = link, .nodes = {}});
  add_all(outages);
}

std::vector<std::size_t> UnreliableWorld::subjects_that_fit(bool links, const std::string& pattern) const {
  std::vector<std::size_t> found;
  const std::size_t behind = links ? subjects_.size() : hosts_;
  for (std::size_t i = links ? hosts_ : 0; i < behind; ++i) {
    if (fits(pattern, subjects_[i].name)) found.push_back(i);
  }
  if (found.empty()) {
    throw std::invalid_argument(links ? "no link of the platform is called '" + pattern + "'"
                                      : "no host of a worker or of the aggregator is called '" + pattern + "'");
  }
  return found;
}

void UnreliableWorld::add_all(const Outages& outages) {
  std::uint32_t rule = 0;
  const auto stream = [&](std::size_t subject) {
    constexpr std::uint32_t kLink = 0x80000000U;
    const auto number = static_cast<std::uint32_t>(subject < hosts_ ? subject : (subject - hosts_) | kLink);
    return RandomStream(outages.seed, Purpose::outages, number, rule);
  };
  for (const spec::RandomFailureSpec& one : outages.what.random) {
    for (const std::size_t i : subjects_that_fit(one.links, one.match)) add(i, random_failures(one, stream(i)));
    ++rule;
  }
  for (const spec::OutageSpec& one : outages.what.outages) {
    for (const std::size_t i : subjects_that_fit(one.links, one.match)) add(i, one_outage(one));
    ++rule;
  }
  for (const AvailabilitySpec& one : outages.what.availability) {
    std::map<std::string, std::vector<AvailabilitySpec::Change>> changes;
    for (const AvailabilitySpec::Change& change : one.changes) changes[change.host].push_back(change);
    for (const std::size_t i : subjects_that_fit(false, one.hosts)) {
      if (one.by == AvailabilitySpec::By::diurnal) add(i, diurnal(one, stream(i)));
      if (one.by == AvailabilitySpec::By::sessions) add(i, sessions(one, stream(i)));
      if (one.by == AvailabilitySpec::By::file) add(i, listed_changes(std::move(changes[subjects_[i].name])));
      if (one.drop_out == 0) continue;
      // A stream of its own: with or without drop-outs a host is there at the same times.
      ++rule;
      auto drop_out = std::make_unique<DropOut>(one.drop_out, one.returns, stream(i));
      --rule;
      for (const Node node : subjects_[i].nodes) {
        drops_out_[static_cast<std::size_t>(node)] = {drop_out.get(), processes_.size()};
      }
      add(i, std::move(drop_out));
      processes_.back().drops_out = true;
    }
    rule += 2;
  }
  for (const spec::StateProfileSpec& one : outages.profiles) {
    const std::size_t behind = one.links ? subjects_.size() : hosts_;
    for (std::size_t i = one.links ? hosts_ : 0; i < behind; ++i) {
      if (subjects_[i].name == one.name) add(i, profile_changes(one));
    }
  }
}

void UnreliableWorld::add(std::size_t subject, std::unique_ptr<OutageProcess> what) {
  processes_.push_back({.subject = subject, .what = std::move(what)});
  if (!processes_.back().what->begins_up()) change(subjects_[subject], false);
  go_on(processes_.size() - 1);
}

void UnreliableWorld::go_on(std::size_t process) {
  if (const auto change = processes_[process].what->next()) schedule(process, *change);
}

void UnreliableWorld::schedule(std::size_t process, OutageProcess::Change change) {
  processes_[process].next = change;
  dates_.emplace(change.at, process);
  if (processes_[process].subject < hosts_) ++host_dates_;
}

/// What is due at the date of the alarm.
void UnreliableWorld::carry_out() {
  alarm_ = 0;
  while (!dates_.empty() && dates_.begin()->first <= alarm_at_) {
    const std::size_t process = dates_.begin()->second;
    dates_.erase(dates_.begin());
    Process& due = processes_[process];
    if (due.subject < hosts_) --host_dates_;
    const bool up = due.next.up;
    if (!up && due.drops_out) ++drop_outs_;
    go_on(process);
    change(subjects_[due.subject], up);
  }
}

void UnreliableWorld::change(Subject& subject, bool up) {
  const bool was_up = subject.down == 0;
  subject.down += up ? -1 : 1;
  if (was_up == (subject.down == 0)) return;
  for (const Node node : subject.nodes) set_host(node, up);
  if (!subject.nodes.empty()) return;
  inner_.set_link(subject.name, up);
  if (!up) ++link_outages_;
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
  const OutageProcess::Change& next = processes_[process].next;
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
