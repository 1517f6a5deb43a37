#pragma once

#include <string>
#include <vector>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Mean and standard deviation over the seeds of a run; with one seed no deviation is known.
struct OverSeeds {
  double mean = 0, deviation = 0;
};
OverSeeds over_seeds(const std::vector<double>& by_seed);
/// Steps to the target, by seed; empty where some seed misses it.
std::vector<double> target_steps(const RunResult& run);
/// Steps to the target ÷ those of the first seed, which is timed: the mean over the seeds; 1 where some seed misses it.
double longer_over_seeds(const RunResult& run);
/// Whether every seed reaches the target, and when, as a mean over the seeds: seconds. After: as of Arrival.
struct TargetOverSeeds {
  bool reached = false;
  double seconds = 0, after = 0, steps = 0;  ///< meaningful if reached
};
TargetOverSeeds target_over_seeds(const RunResult& run);
/// Bytes that the run sends, as a mean over seeds where each ends at its target.
double sent_in_all(const RunResult& run);

// Cells of the table of runs: "97.0 ± 0.2" where several seeds were learned.

/// `of_first`: where nothing is known by seed.
std::string accuracy_cell(const std::vector<double>& by_seed, double of_first);
std::string steps_cell(const RunResult& run);
/// The time to the target as the answer says it: the mean, with its band.
std::string time_cell(const RunResult& run);
std::string time_cell_with_band(const RunResult& run);

}  // namespace dadsim::report
