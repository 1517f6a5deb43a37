#pragma once

#include <optional>
#include <vector>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Whether training has diverged: its loss is no finite number at the end, or ends above ten times that of the
/// untrained network (overconfident networks have losses above it too, by less). To be asked of curves of what has
/// learned alone.
std::optional<Divergence> divergence_of(const std::vector<CurvePoint>& curve);

}  // namespace dadsim::report
