#pragma once

#include <optional>
#include <vector>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Returns whether training has diverged: its last loss is not finite, or exceeds ten times that of the untrained
/// network. (Overconfident networks also exceed the untrained loss, but by less.) Use only for curves of networks that
/// have learned.
std::optional<Divergence> divergence_of(const std::vector<CurvePoint>& curve);

/// A guess on held-back samples: its accuracy, the standard deviation of the accuracy over as many samples, and its
/// loss if the frequencies of classes are known.
struct Guess {
  double chance = 0, deviation = 0, loss = 0;
};

/// Returns whether training ended no better than a guess, but without diverging: its accuracy is at most two standard
/// deviations above that of the guess, and its loss above 95 % of the guess's.
bool ends_at_chance(const RunResult& run, const Guess& guess);

/// Returns which runs have meaningless accuracies: those that diverged, and those with a note that they end at chance.
std::vector<Statement> spoilt_accuracies(const Result& result);

}  // namespace dadsim::report
