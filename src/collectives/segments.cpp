#include "collectives/segments.hpp"

#include <algorithm>
#include <cmath>

namespace dadsim::collectives {

std::int64_t segment_count(double bytes, double segment_bytes, double fill, const RankLayout::Channel& channel) {
  if (segment_bytes > 0) return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(bytes / segment_bytes)));
  constexpr double kSmallest = 4096;
  constexpr double kMost = 1024;
  const double limit = std::clamp(std::floor(bytes / kSmallest), 1.0, kMost);
  const double ideal = std::sqrt(fill * bytes / (channel.latency * channel.bandwidth));  // ∞ or NaN without latency
  if (!(ideal < limit)) return fill > 0 ? static_cast<std::int64_t>(limit) : 1;
  return std::max<std::int64_t>(1, std::llround(ideal));
}

}  // namespace dadsim::collectives
