#pragma once

#include <string>
#include <vector>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Returns mean and standard deviation; with one value the deviation is zero.
OverSeeds over_seeds(const std::vector<double>& by_seed);
/// Returns the steps to the target, by seed; empty if some seed misses it.
std::vector<double> target_steps(const RunResult& run);
/// Returns steps to the target ÷ those of the first seed, which is timed: the mean over the seeds; 1 if some seed
/// misses it.
double longer_over_seeds(const RunResult& run);
/// Time to the target over the seeds: whether every seed reaches it, and the mean seconds. After: see Arrival.
struct TargetOverSeeds {
  bool reached = false;
  double seconds = 0, after = 0, steps = 0;  ///< meaningful if reached
};
TargetOverSeeds target_over_seeds(const RunResult& run);
/// Returns the bytes that the run sends: a mean over seeds if each ends at its target.
double sent_in_all(const RunResult& run);

// ---- cells of the table of runs: "97.0 ± 0.2" if several seeds were learned ----

/// `of_first`: used if no values by seed are known.
std::string accuracy_cell(const std::vector<double>& by_seed, double of_first);
std::string steps_cell(const RunResult& run);
/// Returns the time to the target as in the answer: the mean, with its band.
std::string time_cell(const RunResult& run);
std::string time_cell_with_band(const RunResult& run);

}  // namespace dadsim::report
