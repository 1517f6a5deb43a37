#include "report/run/divergence.hpp"

#include <algorithm>
#include <cmath>

namespace dadsim::report {

std::optional<Divergence> divergence_of(const std::vector<CurvePoint>& curve) {
  constexpr double kFar = 10;
  if (curve.empty()) return std::nullopt;
  const double before = curve.front().loss;
  const double after = curve.back().loss;
  if (std::isfinite(after)) {
    if (curve.size() < 2 || !(after > kFar * before)) return std::nullopt;
    return Divergence{curve.back().step, before, after};
  }
  // From then on: what came back to finite numbers in between had not diverged yet.
  auto first = std::prev(curve.end());
  while (first != curve.begin() && !std::isfinite(std::prev(first)->loss)) --first;
  return Divergence{first->step, before, after};
}

}  // namespace dadsim::report
