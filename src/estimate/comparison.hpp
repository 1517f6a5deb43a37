#pragma once

#include <vector>

#include "estimate/efficiency.hpp"

namespace dadsim::estimate {

/// When a run reached the target with one seed, in seconds: as far as evaluations tell after `after`, that of the
/// evaluation before, and at the latest at `at`, that of the first which reached it.
struct Arrival {
  double after = 0, at = 0;
  double steps = 0;  ///< taken by then; 0: not known, or none
  bool operator==(const Arrival&) const = default;
};

/// What one seed leaves open of the logarithm of how many times as long one run takes as another, as a standard
/// deviation: 0.074, 0.081 and 0.085 for the three pairs of gradient sharing, rank-dAD (cap 16) and PowerSGD (rank 2)
/// over 7 to 15 seeds that both reach the target with (scenarios/hospitals.xml with 4,000 images, to 92 %, evaluated
/// every 4 steps).
inline constexpr double kSeedScatter = 0.08;

/// How many times as long one run takes to the target as another, over the seeds that both have: at equal places of
/// both lists, one at least. The interval (95 %) holds two, as it has two causes:
///   seeds:        Fieller's interval of the ratio of the means (ratio_of_means); with one seed, which tells nothing of
///                 chance, 1.96 · kSeedScatter of the logarithm, added to the other in squares;
///   evaluations:  each arrival lies anywhere between two evaluations, and at the same place with every seed for all
///                 that is known: from Σ after ÷ Σ at of the other to Σ at ÷ Σ after of the other. Runs that
///                 `learn_the_same` (exact algorithms: the same up to rounding, step by step) have theirs at the same
///                 place, so that evaluations leave nothing open between them.
/// Throws std::invalid_argument where the lists differ in length, are empty, or `of` takes no time.
Estimate times_as_long(const std::vector<Arrival>& run, const std::vector<Arrival>& of, bool learn_the_same);

}  // namespace dadsim::estimate
