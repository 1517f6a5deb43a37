#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/scenario.hpp"
#include "study/learning/learned.hpp"
#include "study/remote/task_queue.hpp"
#include "world/remote_operations.hpp"

namespace dadsim::study {

/// Returns the name of weights: the key of the operation that made them.
NamedState named_state(const world::ValueKey& key, world::DatumPtr datum);

/// Local training, gradients and evaluations of event-driven runs of one scenario, each a task of a queue.
class RemoteLearning final : public world::RemoteOperations {
 public:
  /// `overrides`: those with which another process loads the same scenario from its file.
  RemoteLearning(TaskQueue& queue, const scenario::Scenario& scenario, std::vector<std::string> overrides);

  std::uint64_t problem() const override { return context_->hash; }
  void hand(Operation operation) override;
  std::vector<Result> wait() override;
  void forget() override;

 private:
  TaskQueue& queue_;
  std::shared_ptr<const TaskContext> context_;
  std::mutex mutex_;
  std::map<TaskQueue::TaskId, world::ValueKey> handed_;
};

/// Carries out such tasks with the scenario at the local `path`, several at a time. Returns their results as bytes.
/// Data are drawn or read once for many pieces. Throws InputError if the scenario differs.
std::vector<std::string> do_operations(const std::string& path, const TaskPiece& piece, const TaskStates& states);

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
