#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "study/remote/task_queue.hpp"

namespace dadsim::cli {

/// A process of Python (python/dadsim/remote.py) that hands the tasks of a queue to the workers of Dask, as long as
/// this lives. What it cannot have done, and its own end, fail the queue.
class DaskClient {
 public:
  /// `scheduler`, e.g. "tcp://10.0.0.1:8786"; `scenario`: the path of the file, which has been read with all that it
  /// names. Throws EnvironmentError where there is no Python.
  DaskClient(const std::string& scheduler, const std::string& scenario, study::TaskQueue& queue);
  ~DaskClient();
  DaskClient(const DaskClient&) = delete;
  DaskClient& operator=(const DaskClient&) = delete;

 private:
  void serve();
  std::string answer(std::string_view question);

  std::string scenario_;
  study::TaskQueue& queue_;
  pid_t child_ = -1;
  int questions_ = -1, answers_ = -1;  ///< descriptors
  std::thread thread_;
};

/// The tasks of a command of which `--on` names a scheduler, and who hands them out from start() on. Without a
/// scheduler there are none.
class TasksElsewhere {
 public:
  TasksElsewhere(std::string scheduler, std::string scenario)
      : scheduler_(std::move(scheduler)), scenario_(std::move(scenario)) {}

  /// Once the scenario has been read. Throws as DaskClient does.
  void start() {
    if (!scheduler_.empty()) client_.emplace(scheduler_, scenario_, queue_);
  }
  study::TaskQueue* queue() { return scheduler_.empty() ? nullptr : &queue_; }

 private:
  std::string scheduler_, scenario_;
  study::TaskQueue queue_;
  std::optional<DaskClient> client_;  ///< is over before the queue is
};

}  // namespace dadsim::cli
