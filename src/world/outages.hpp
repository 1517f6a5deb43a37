#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "world/outage_calendar.hpp"
#include "world/world.hpp"

namespace dadsim::world {

/// A World whose hosts and links go down and come up by a specification: at listed dates, or at dates drawn from the
/// seed by Purpose::outages, host or link, and rule (OutageCalendar).
///
/// A host is up unless a rule keeps it down. Hosts that are down at date 0 have the first events. The World's own
/// timers never reach the caller. next() returns nothing if the caller has no activity under way and no host will
/// change any more: alternating rules may keep a host down for good. Checkpoints belong to the EventLoop
/// (EventLoop::set_checkpoints).
class UnreliableWorld final : public World {
 public:
  /// Throws std::invalid_argument for a pattern that fits nothing.
  UnreliableWorld(World& inner, const Outages& outages);

  Activity compute(Node node, const Work& work) override;
  Activity send(Node from, Node to, double bytes) override;
  Activity collective(const Collective& what, CollectiveTraffic& traffic) override;
  Activity timer(double seconds) override;
  void cancel(Activity activity) override;
  void set_host(Node node, bool up) override;
  void set_link(const std::string& link, bool up) override { inner_.set_link(link, up); }
  bool is_up(Node node) const override { return inner_.is_up(node); }
  double seconds_of(Node node, const Work& work) override { return inner_.seconds_of(node, work); }
  std::optional<Event> next() override;
  double now() const override { return inner_.now(); }

  const OutageCalendar& calendar() const { return calendar_; }

 private:
  void arm();
  void ended(Activity activity);

  World& inner_;
  std::int64_t underway_ = 0;                      ///< activities of the caller under way
  std::int64_t reported_ = 0;                      ///< changes of hosts that inner_ has yet to tell
  std::vector<std::vector<std::size_t>> devices_;  ///< per node, those of the calendar that it is made of
  std::vector<std::size_t> device_of_;             ///< per node of the calendar
  std::vector<int> devices_down_;                  ///< per node
  OutageCalendar calendar_;
  Activity alarm_ = 0;
  double alarm_at_ = 0;
  /// Computations that a node drops out of, and the rules by which it does.
  std::unordered_map<Activity, std::vector<std::size_t>> in_the_midst_;
};

}  // namespace dadsim::world
