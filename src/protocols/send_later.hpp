#pragma once

#include <map>
#include <optional>

#include "world/event_loop.hpp"

namespace dadsim::protocols {

/// Seconds after which a lost message is sent again.
inline constexpr double kRetrySeconds = 5;

/// Parcels that a participant will send again, each at its own date. The participant receives until next(), then calls
/// take() for the parcels that are due.
class SendLater {
 public:
  void add(double at, world::Parcel parcel) { parcels_.emplace(at, std::move(parcel)); }
  /// Returns the date at which the first parcel is due, in seconds; kNever if there is none.
  double next() const { return parcels_.empty() ? world::kNever : parcels_.begin()->first; }
  std::optional<world::Parcel> take(double now) {
    if (next() > now) return std::nullopt;
    world::Parcel parcel = std::move(parcels_.begin()->second);
    parcels_.erase(parcels_.begin());
    return parcel;
  }
  void clear() { parcels_.clear(); }

 private:
  std::multimap<double, world::Parcel> parcels_;  ///< parcels by date; with equal dates, in the order of insertion
};

}  // namespace dadsim::protocols
