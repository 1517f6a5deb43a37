#pragma once

#include <string>
#include <vector>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Returns mean and standard deviation; the deviation of a single value is zero.
OverSeeds over_seeds(const std::vector<double>& by_seed);
/// Returns the steps to the target by seed; empty if some seed misses the target.
std::vector<double> target_steps(const RunResult& run);
/// Returns the mean over seeds of steps to the target ÷ the steps of the first seed, which is timed; 1 if some seed
/// misses the target.
double longer_over_seeds(const RunResult& run);
/// Time to the target over the seeds: whether every seed reaches it, and the mean seconds. See Arrival for the meaning
/// of `after`.
struct TargetOverSeeds {
  bool reached = false;
  double seconds = 0, after = 0, steps = 0;  ///< valid if the target is reached
};
TargetOverSeeds target_over_seeds(const RunResult& run);
/// Returns the bytes that the run sends: the mean over the seeds if the run ends at its target, else those of the first
/// seed.
double sent_in_all(const RunResult& run);

// ---- cells of the table of runs: "97.0 ± 0.2" if several seeds were learned ----

/// `of_first`: value of the first seed, used if no values by seed are known.
std::string accuracy_cell(const std::vector<double>& by_seed, double of_first);
std::string steps_cell(const RunResult& run);
/// Returns the mean time to the target as in the answer: without its band (time_cell), or with it.
std::string time_cell(const RunResult& run);
std::string time_cell_with_band(const RunResult& run);

}  // namespace dadsim::report
