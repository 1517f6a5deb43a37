#include "world/outages.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dadsim::world {
namespace {

std::vector<std::vector<std::size_t>> devices_of(const Outages& outages) {
  std::vector<std::vector<std::size_t>> devices;
  for (std::size_t i = 0; i < outages.hosts.size(); ++i) {
    const std::size_t node = outages.device_of.empty() ? i : outages.device_of.at(i);
    if (node >= devices.size()) devices.resize(node + 1);
    devices[node].push_back(i);
  }
  return devices;
}

}  // namespace

UnreliableWorld::UnreliableWorld(World& inner, const Outages& outages)
    : inner_(inner),
      devices_(devices_of(outages)),
      device_of_(outages.device_of),
      devices_down_(devices_.size()),
      calendar_(outages, [this](const OutageCalendar::Subject& subject, bool up) {
        for (const std::size_t device : subject.nodes) {
          const std::size_t node = device_of_.empty() ? device : device_of_[device];
          devices_down_[node] += up ? -1 : 1;
          if (devices_down_[node] == (up ? 0 : 1)) set_host(static_cast<Node>(node), up);
        }
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
  // Applies drop-outs to training only; other work is too short for a user to leave.
  if (work.step < 0 || !is_up(node)) return activity;
  std::vector<std::size_t> by;
  for (const std::size_t device : devices_.at(static_cast<std::size_t>(node))) {
    if (!calendar_.may_drop_out(device)) continue;
    const std::vector<std::size_t> own = calendar_.compute(device, now(), inner_.seconds_of(node, work));
    by.insert(by.end(), own.begin(), own.end());
  }
  if (!by.empty()) in_the_midst_[activity] = std::move(by);
  return activity;
}

Activity UnreliableWorld::send(Node from, Node to, double bytes) {
  ++underway_;
  return inner_.send(from, to, bytes);
}

Activity UnreliableWorld::collective(const Collective& what, CollectiveTraffic& traffic) {
  ++underway_;
  return inner_.collective(what, traffic);
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

/// Handles the end of an activity. If it was a computation, removes its drop-outs that have not happened.
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
