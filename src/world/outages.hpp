#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "world/outage_calendar.hpp"
#include "world/world.hpp"

namespace dadsim::world {

/// A World whose hosts and links go down and come up as specified: at listed dates, or at random dates that depend on
/// the seed, Purpose::outages, the host or link, and the rule (OutageCalendar).
///
/// A host is up unless a rule keeps it down. Hosts that are down at date 0 cause the first events. Callers never see
/// this class's own timers. next() returns nothing if the caller has no activity under way and no host will change.
/// Alternating rules may together keep a host down for good. Checkpoints are part of the EventLoop
/// (EventLoop::set_checkpoints).
class UnreliableWorld final : public World {
 public:
  /// Throws std::invalid_argument for a pattern that matches nothing.
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
  std::int64_t underway_ = 0;                      ///< number of the caller's activities under way
  std::int64_t reported_ = 0;                      ///< number of host changes that inner_ has not reported yet
  std::vector<std::vector<std::size_t>> devices_;  ///< calendar nodes of each node
  std::vector<std::size_t> device_of_;             ///< node of each calendar node
  std::vector<int> devices_down_;                  ///< number of calendar nodes that are down, per node
  OutageCalendar calendar_;
  Activity alarm_ = 0;
  double alarm_at_ = 0;
  /// Rules that make a node drop out, by computation.
  std::unordered_map<Activity, std::vector<std::size_t>> in_the_midst_;
};

}  // namespace dadsim::world
