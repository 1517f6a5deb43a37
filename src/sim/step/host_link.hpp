#pragma once

#include <algorithm>

#include "schedule/schedule.hpp"

namespace dadsim::sim {

/// The link between a device and its host's memory. Stores the dates until which each direction is busy, and until
/// which the host launches kernels.
class HostLink {
 public:
  /// Handles a copy, or a wait for copies, that the compute stream reaches at `date`. Returns the date at which the
  /// stream continues. The copy takes `seconds`.
  double carry(schedule::HostCopy copy, double date, double seconds) {
    switch (copy) {
      case schedule::HostCopy::none:
        break;
      case schedule::HostCopy::to_host:
        there_ = std::max(there_, date) + seconds;
        break;
      case schedule::HostCopy::from_host:
        back_ = std::max({there_, back_, date}) + seconds;
        break;
      case schedule::HostCopy::wait_to_host:
        return std::max(date, there_);
      case schedule::HostCopy::wait_from_host:
        return std::max(date, back_);
      case schedule::HostCopy::launch:
        launched_ = std::max(launched_, date) + seconds;
        break;
      case schedule::HostCopy::wait_launch:
        return std::max(date, launched_);
    }
    return date;
  }

 private:
  double there_ = 0;
  double back_ = 0;
  double launched_ = 0;
};

}  // namespace dadsim::sim
