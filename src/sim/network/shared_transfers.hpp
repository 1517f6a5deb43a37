#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <simgrid/kernel/Timer.hpp>
#include <utility>
#include <vector>

#include "sim/network/interconnect.hpp"
#include "sim/network/link_sharing.hpp"

namespace dadsim::sim {

/// Transfers that share the links of the platform by LinkSharing in the place of SimGrid: nothing of them is known to
/// SimGrid but the dates at which they end. For networks that do not vary, over which nothing else goes.
class SharedTransfers {
 public:
  explicit SharedTransfers(Interconnect& network) : network_(network) {}
  SharedTransfers(const SharedTransfers&) = delete;
  SharedTransfers& operator=(const SharedTransfers&) = delete;

  /// One over the path, at most at `most` byte/s of the wire, that may be under way once at a time: `through` is called
  /// when it ends. Returns its number.
  std::int32_t add(std::int32_t path, double most, std::function<void()> through);
  /// So many bytes of the wire begin, above 0.
  void begin(std::int32_t transfer, double bytes);
  /// It ends before its time, if it is under way, and will not begin again; nobody is called.
  void stop(std::int32_t transfer);

 private:
  void settle_soon();
  void settle();

  Interconnect& network_;
  LinkSharing sharing_;
  std::vector<std::function<void()>> through_;      ///< per transfer
  bool settles_ = false;                            ///< a timer for this date is set
  simgrid::kernel::timer::Timer* alarm_ = nullptr;  ///< for the next end
};

inline std::int32_t SharedTransfers::add(std::int32_t path, double most, std::function<void()> through) {
  for (const std::int32_t index : network_[path].links) {
    const NetworkLink& link = network_.link(index);
    if (!sharing_.knows(index)) sharing_.set_link(index, link.bandwidth, link.shared);
  }
  through_.push_back(std::move(through));
  return sharing_.add(network_[path].links, most);
}

inline void SharedTransfers::begin(std::int32_t transfer, double bytes) {
  sharing_.begin(transfer, bytes, simgrid::s4u::Engine::get_clock());
  settle_soon();
}

inline void SharedTransfers::stop(std::int32_t transfer) {
  sharing_.stop(transfer, simgrid::s4u::Engine::get_clock());
  settle_soon();
}

/// Once for all that begins at a date, behind it.
inline void SharedTransfers::settle_soon() {
  if (std::exchange(settles_, true)) return;
  simgrid::kernel::timer::Timer::set(simgrid::s4u::Engine::get_clock(), [this] {
    settles_ = false;
    settle();
  });
}

inline void SharedTransfers::settle() {
  if (alarm_ != nullptr) alarm_->remove();
  alarm_ = nullptr;
  const double now = simgrid::s4u::Engine::get_clock();
  for (const std::int32_t transfer : sharing_.settle(now)) through_[static_cast<std::size_t>(transfer)]();
  const double next = sharing_.next();
  if (!std::isfinite(next)) return;
  alarm_ = simgrid::kernel::timer::Timer::set(std::max(now, next), [this] {
    alarm_ = nullptr;
    settle();
  });
}

}  // namespace dadsim::sim
