#include "world/outages.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dadsim::world {

UnreliableWorld::UnreliableWorld(World& inner, const Outages& outages)
    : inner_(inner), calendar_(outages, [this](const OutageCalendar::Subject& subject, bool up) {
        for (const std::size_t node : subject.nodes) set_host(static_cast<Node>(node), up);
        if (subject.nodes.empty()) inner_.set_link(subject.name, up);
      }) {}

void UnreliableWorld::arm() {
  const double first = calendar_.next_change();
  if (std::isinf(first) || (alarm_ != 0 && alarm_at_ <= first)) return;
  if (alarm_ != 0) inner_.cancel(alarm_);
  alarm_at_ = first;
  alarm_ = inner_.timer(std::max(0.0, first - now()));
}

// ---- what the caller orders ----

Activity UnreliableWorld::compute(Node node, const Work& work) {
  ++underway_;
  const Activity activity = inner_.compute(node, work);
  const auto number = static_cast<std::size_t>(node);
  // What belongs to no training is short, and not what a user walks away from.
  if (work.step < 0 || !is_up(node) || !calendar_.may_drop_out(number)) return activity;
  std::vector<std::size_t> by = calendar_.compute(number, now(), inner_.seconds_of(node, work));
  if (!by.empty()) in_the_midst_[activity] = std::move(by);
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
  calendar_.take_back(found->second);
  in_the_midst_.erase(found);
}

std::optional<Event> UnreliableWorld::next() {
  for (;;) {
    if (underway_ == 0 && reported_ == 0 && !calendar_.hosts_change()) return std::nullopt;
    arm();
    std::optional<Event> event = inner_.next();
    if (!event) return std::nullopt;
    if (event->kind == Event::Kind::host_down || event->kind == Event::Kind::host_up) {
      --reported_;
      return event;
    }
    if (event->activity == alarm_) {
      alarm_ = 0;
      calendar_.take_changes_until(alarm_at_);
      continue;
    }
    ended(event->activity);
    return event;
  }
}

}  // namespace dadsim::world
