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
  std::function<void(std::int64_t step, std::int64_t steps)> progress;  ///< from time to time
  const std::atomic<bool>* cancelled = nullptr;                         ///< checked after every step
  std::int64_t most_steps = -1;  ///< of those that it may take, no more are taken; −1: all are
  bool measures_leak = true;     ///< what messages reveal; nothing of the kind where nothing is learned
};

/// Trains one run for real and records its steps. Same arguments, same bits, for any number of threads. A run whose
/// loss is no longer finite ends there (Trajectory::diverged_at). Throws Cancelled.
/// With `attendance`, steps are taken by those that it says are there.
step::Trajectory learn(const spec::RunSpec& run, const LearningProblem& problem, const LearningObserver& observer = {},
                       Attendance* attendance = nullptr);

/// The steps of an exact run beside another exact one of the same problem, `learned` before: they learn the same up to
/// rounding, and the curve is taken from there. What an exact step does and sends depends on the sizes of the batches
/// alone, so that one of each is carried out. Throws std::logic_error for a step whose sizes come out of its numbers.
/// `measures_leak`: as LearningObserver has it.
step::Trajectory record_beside(const spec::RunSpec& run, const LearningProblem& problem,
                               const step::Trajectory& learned, bool measures_leak = true);

/// Steps that the run may take: epochs × steps per epoch, rounded up.
std::int64_t budget_in_steps(const spec::TrainingSpec& training, std::int64_t steps_per_epoch);

/// The run that `problem` asks for, if it takes all the steps that it may.
RunContext planned_run(const LearningProblem& problem);

}  // namespace dadsim::algorithms
