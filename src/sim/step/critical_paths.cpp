#include "sim/step/critical_paths.hpp"

#include <algorithm>
#include <functional>

namespace dadsim::sim {
std::vector<step::Bound> bounds_of(const CriticalPath& path, const std::string& host, const std::string& device,
                                   const SpentSeconds& spent, double step_seconds) {
  std::vector<step::Bound> bounds;
  const auto add = [&](const std::string& resource, const std::string& kind, double seconds,
                       const std::string& computer = {}) {
    if (seconds > 0) bounds.push_back({resource, kind, seconds, seconds / step_seconds, computer});
  };
  add(host, "compute", path.computing, device);
  add("other devices", "compute", path.for_others);
  double whole = 0;
  for (const auto& [what, seconds] : spent) whole += seconds;
  for (const auto& [what, seconds] : spent) {
    if (whole > 0) add(what.second, what.first, path.network * seconds / whole);
  }
  std::ranges::stable_sort(bounds, std::greater(), &step::Bound::seconds);
  return bounds;
}

}  // namespace dadsim::sim
