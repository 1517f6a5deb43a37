#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "study/learning/learned.hpp"
#include "study/remote/task_queue.hpp"

namespace dadsim::study {

/// Learning of a scenario by another process.
struct LearningTask {
  std::vector<std::string> overrides;  ///< settings by --set with which the other process loads the scenario
  std::uint64_t hash = 0;              ///< Scenario::hash
  std::int64_t run = -1;               ///< the only run to learn; −1: all runs
};

/// Posts a learning task. learned_runs_from() reads its result.
TaskQueue::TaskId post_learning(TaskQueue& queue, const LearningTask& asked);

/// Returns the runs that another process has learned, by the keys of learn_scenario(); none if its scenario cannot be
/// learned. Throws InputError for damaged bytes.
std::map<std::uint64_t, LearnedRunPtr> learned_runs_from(std::string_view result);

/// Lets other processes learn, and returns their runs, by the keys of learn_scenario(). Tasks that cannot be learned
/// are left out: the error is reported when the run is used. Throws InputError if another process has a different
/// scenario, EnvironmentError, Cancelled.
std::map<std::uint64_t, LearnedRunPtr> learn_elsewhere(TaskQueue& queue, const std::vector<LearningTask>& asked);

/// Carries out a learning task with the scenario at the local `path`. Throws InputError if the scenario differs,
/// Cancelled.
std::vector<std::string> learn_for_another(const std::string& path, const TaskPiece& piece);

}  // namespace dadsim::study
