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
/// change: alternating rules may keep a host down for good. Checkpoints belong to the EventLoop
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
  std::int64_t reported_ = 0;                      ///< changes of hosts that inner_ has not reported yet
  std::vector<std::vector<std::size_t>> devices_;  ///< calendar nodes of each node
  std::vector<std::size_t> device_of_;             ///< node of each calendar node
  std::vector<int> devices_down_;                  ///< number of calendar nodes that are down, per node
  OutageCalendar calendar_;
  Activity alarm_ = 0;
  double alarm_at_ = 0;
  /// Rules by which a node drops out of a computation, by computation.
  std::unordered_map<Activity, std::vector<std::size_t>> in_the_midst_;
};

}  // namespace dadsim::world
