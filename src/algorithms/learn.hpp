#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "algorithms/algorithm.hpp"
#include "algorithms/attendance.hpp"
#include "algorithms/learning_problem.hpp"
#include "spec/specification.hpp"
#include "step/trajectory.hpp"
#include "support/interrupt.hpp"

namespace dadsim::algorithms {

struct LearningObserver {
  std::function<void(std::int64_t step, std::int64_t steps)> progress;  ///< called from time to time
  const std::atomic<bool>* cancelled = nullptr;                         ///< checked after every step
  std::int64_t most_steps = -1;  ///< largest number of steps taken; −1: all of the run's budget
  bool measures_leak = true;     ///< measures what messages reveal; no effect on a dry run
};

/// Trains one run for real and records its steps. The same arguments give the same bits for any number of threads. A
/// run whose loss is no longer finite ends there (Trajectory::diverged_at). `attendance` decides which sites take each
/// step. Throws Cancelled.
step::Trajectory learn(const spec::RunSpec& run, const LearningProblem& problem, const LearningObserver& observer = {},
                       Attendance* attendance = nullptr);

/// Records the steps of an exact run, with the curve of `learned`, an earlier exact run of the same problem: both learn
/// the same up to rounding. An exact step depends on its batch sizes alone, so that one step per set of sizes is
/// carried out. `measures_leak`: as in LearningObserver. Throws std::logic_error for a step whose sizes depend on its
/// numbers.
step::Trajectory record_beside(const spec::RunSpec& run, const LearningProblem& problem,
                               const step::Trajectory& learned, bool measures_leak = true);

/// Returns the largest number of steps that the run may take: epochs × steps per epoch, rounded up.
std::int64_t budget_in_steps(const spec::TrainingSpec& training, std::int64_t steps_per_epoch);

/// Returns the sampling of the problem's run with its full number of steps.
RunContext planned_run(const LearningProblem& problem);

}  // namespace dadsim::algorithms
