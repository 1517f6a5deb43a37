#pragma once

#include <string_view>
#include <vector>

#include "estimate/efficiency.hpp"

namespace dadsim::estimate {

/// Time at which a run reached the target with one seed, in seconds. It lies after `after`, the last evaluation before
/// the target, and at the latest at `at`, the first evaluation that reached it.
struct Arrival {
  double after = 0, at = 0;
  double steps = 0;  ///< steps taken until then; 0: unknown, or none
  bool operator==(const Arrival&) const = default;
};

/// Returns the standard deviation over seeds of ln(time to the target ÷ time of an exact run with the same seed), by
/// kind of method ("low-rank"; measured: seed_scatter.csv). Unmeasured kinds have the value of "unknown". "alone" is
/// the deviation of ln(time of an exact run).
double seed_scatter(std::string_view kind);

/// Returns half the width of the 95 % interval for one seed, as a logarithm.
inline double chance_of(double scatter) { return 1.96 * scatter; }

/// Returns the ratio of two runs' times to the target over the seeds of both. Both lists have one entry per seed, at
/// least one. The 95 % interval combines two intervals, one per cause:
///   seeds:        Fieller's interval of the ratio of the means (ratio_of_means); with one seed, which tells nothing of
///                 chance, chance_of(`scatter`), added to the other in squares;
///   evaluations:  each arrival lies anywhere between two evaluations, and at the same place with every seed for all
///                 that is known: from Σ after ÷ Σ at of the other to Σ at ÷ Σ after of the other. Runs that
///                 `learn_the_same` (exact algorithms: the same up to rounding, step by step) have theirs at the same
///                 place, so that evaluations leave nothing open between them.
/// Throws std::invalid_argument where the lists differ in length, are empty, or `of` takes no time.
Estimate times_as_long(const std::vector<Arrival>& run, const std::vector<Arrival>& of, bool learn_the_same,
                       double scatter);

}  // namespace dadsim::estimate
