#include "sim/network/departures.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace dadsim::sim {

void Departures::write(std::int32_t event, double date, double bytes) {
  const Entry entry{event, date, bytes, -1};
  const auto earlier = [](const Entry& a, const Entry& b) {
    return std::tie(a.date, a.event) < std::tie(b.date, b.event);
  };
  entries_.insert(std::ranges::upper_bound(entries_, entry, earlier), entry);
}

double Departures::begin_of(std::int32_t event, double rate, bool fits) {
  const auto asked = std::ranges::find(entries_, event, &Entry::event);
  if (asked == entries_.end()) throw std::logic_error("a message leaves that was not written");
  // Who asks first settles it for all that are there by now: actors wake in any order.
  for (Entry& entry : entries_) {
    if (entry.date > asked->date) break;
    if (entry.begin >= 0) continue;
    entry.begin = entry.date;
    if (!fits) continue;
    entry.begin = std::max(entry.begin, free_);
    free_ = entry.begin + entry.bytes / rate;
  }
  const double begin = asked->begin;
  entries_.erase(asked);
  return begin;
}

void Departures::forget(std::int32_t event) {
  std::erase_if(entries_, [event](const Entry& entry) { return entry.event == event; });
}

}  // namespace dadsim::sim
