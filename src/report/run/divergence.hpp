#pragma once

#include <optional>
#include <vector>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Whether training has diverged: its loss is no finite number at the end, or ends above ten times that of the
/// untrained network (overconfident networks have losses above it too, by less). To be asked of curves of what has
/// learned alone.
std::optional<Divergence> divergence_of(const std::vector<CurvePoint>& curve);

/// How often a guess is right on held-back samples, the standard deviation of that over as many samples, and the loss
/// of whoever knows how frequent classes are.
struct Guess {
  double chance = 0, deviation = 0, loss = 0;
};

/// Whether training ends as good as a guess, and has not diverged: by accuracy within two standard deviations, and by
/// loss within a twentieth.
bool ends_at_chance(const RunResult& run, const Guess& guess);

/// What the accuracies of some runs do not mean: which have diverged, and which end at chance as their notes say.
std::vector<Statement> spoilt_accuracies(const Result& result);

}  // namespace dadsim::report
