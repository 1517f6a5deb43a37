#include "step/participation.hpp"

#include <limits>

namespace dadsim::step {

double Participation::share_used() const {
  if (asked == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(answered) / static_cast<double>(asked);
}

double Participation::mean_staleness() const {
  double sum = 0;
  double times = 0;
  for (const auto& [behind, how_often] : staleness) {
    sum += static_cast<double>(behind) * static_cast<double>(how_often);
    times += static_cast<double>(how_often);
  }
  return times > 0 ? sum / times : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace dadsim::step
