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

/// Returns a weight vector as data with a name: the key of the operation that made it.
NamedState named_state(const world::ValueKey& key, world::DatumPtr datum);

/// Posts local training, gradients and evaluations of one scenario's event-driven runs as tasks of a queue.
class RemoteLearning final : public world::RemoteOperations {
 public:
  /// `overrides`: settings with which another process loads the same scenario from its file.
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

/// Executes tasks that RemoteLearning posted, with the scenario at the local `path`, several at a time. Returns their
/// results as bytes. Data are loaded once for many pieces. Throws InputError if the scenario differs.
std::vector<std::string> do_operations(const std::string& path, const TaskPiece& piece, const TaskStates& states);

/// Learning task of a scenario, for another process.
struct LearningTask {
  std::vector<std::string> overrides;  ///< settings (--set) that the other process loads the scenario with
  std::uint64_t hash = 0;              ///< Scenario::hash
  std::int64_t run = -1;               ///< index of the only run to learn; −1: all runs
};

/// Posts a learning task. learned_runs_from() reads its result.
TaskQueue::TaskId post_learning(TaskQueue& queue, const LearningTask& asked);

/// Returns the runs that another process has learned, by the keys of learn_scenario(); none if its scenario cannot be
/// learned. Throws InputError for damaged bytes.
std::map<std::uint64_t, LearnedRunPtr> learned_runs_from(std::string_view result);

/// Lets other processes learn, and returns their runs by the keys of learn_scenario(). Leaves out tasks that cannot be
/// learned; their errors are reported when the runs are used. Throws InputError if another process has a different
/// scenario, EnvironmentError, Cancelled.
std::map<std::uint64_t, LearnedRunPtr> learn_elsewhere(TaskQueue& queue, const std::vector<LearningTask>& asked);

/// Carries out a learning task with the scenario at the local `path`. Throws InputError if the scenario differs,
/// Cancelled.
std::vector<std::string> learn_for_another(const std::string& path, const TaskPiece& piece);

}  // namespace dadsim::study
