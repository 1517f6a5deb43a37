#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "study/learning/learned.hpp"
#include "study/remote/task_queue.hpp"

namespace dadsim::study {

/// What is to be learned of a scenario.
struct LearningTask {
  std::vector<std::string> overrides;  ///< with which another process loads it from its file
  std::uint64_t hash = 0;              ///< Scenario::hash
  std::int64_t run = -1;               ///< as if it had that run alone; −1: all of them
};

/// Has another process learn that. Its result is for learned_runs_from().
TaskQueue::TaskId post_learning(TaskQueue& queue, const LearningTask& asked);

/// The runs that another process has learned, by the keys that learn_scenario() looks for them under; none where its
/// scenario cannot be learned. Throws InputError where the bytes are damaged.
std::map<std::uint64_t, LearnedRunPtr> learned_runs_from(std::string_view result);

/// Has other processes learn, and returns what they have, by the keys that learn_scenario() looks for it under. What
/// cannot be learned is left out: it is told where it is asked for. Throws InputError where a scenario is another one
/// there, EnvironmentError, Cancelled.
std::map<std::uint64_t, LearnedRunPtr> learn_elsewhere(TaskQueue& queue, const std::vector<LearningTask>& asked);

/// Does such tasks with the scenario that lies at `path`. Throws InputError where it is another one there, Cancelled.
std::vector<std::string> learn_for_another(const std::string& path, const TaskPiece& piece);

}  // namespace dadsim::study
