#pragma once

#include <optional>
#include <vector>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Returns whether training has diverged: its last loss is not finite, or exceeds ten times that of the untrained
/// network. (Overconfident networks exceed it too, by less.) Use only for curves of networks that have learned.
std::optional<Divergence> divergence_of(const std::vector<CurvePoint>& curve);

/// A guess on held-back samples: its accuracy, the standard deviation of that over as many samples, and its loss if the
/// frequencies of classes are known.
struct Guess {
  double chance = 0, deviation = 0, loss = 0;
};

/// Returns whether training ends no better than a guess, without having diverged: accuracy within two standard
/// deviations, and loss within a twentieth.
bool ends_at_chance(const RunResult& run, const Guess& guess);

/// Returns which runs have meaningless accuracies: those that diverged, and those that end at chance as their notes
/// say.
std::vector<Statement> spoilt_accuracies(const Result& result);

}  // namespace dadsim::report
