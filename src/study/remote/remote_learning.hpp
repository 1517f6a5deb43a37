#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
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

}  // namespace dadsim::study
