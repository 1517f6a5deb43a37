#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "study/remote/task_queue.hpp"
#include "support/wire.hpp"

namespace dadsim::cli {

/// A process of Python (python/dadsim/remote.py) that hands work to the workers of Dask and asks this process for it.
/// Signals for the group of this process do not reach it: it is ended with this object.
class DaskProcess {
 public:
  /// `scheduler`, e.g. "tcp://10.0.0.1:8786". Throws EnvironmentError where there is no Python.
  explicit DaskProcess(const std::string& scheduler);
  ~DaskProcess();
  DaskProcess(const DaskProcess&) = delete;
  DaskProcess& operator=(const DaskProcess&) = delete;

  using Answer = std::function<void(char question, WireReader& asked, WireWriter& told)>;
  /// Answers its questions until it ends or this process is interrupted. What it says on standard error is said here,
  /// as a terminal may show it.
  void serve(const Answer& answer);

 private:
  void pass_words_on();

  pid_t child_ = -1;
  int questions_ = -1, answers_ = -1, words_ = -1;  ///< descriptors
  std::string unsaid_;                              ///< a line that has not ended
  bool ended_ = false;
};

/// Hands the tasks of a queue to the workers of Dask, as long as this lives. What they cannot do, and the end of the
/// process of Python, fail the queue.
class DaskClient {
 public:
  /// `scenario`: the path of the file, which has been read with all that it names. Throws as DaskProcess does.
  DaskClient(const std::string& scheduler, const std::string& scenario, study::TaskQueue& queue);
  ~DaskClient();
  DaskClient(const DaskClient&) = delete;
  DaskClient& operator=(const DaskClient&) = delete;

 private:
  void answer(char question, WireReader& asked, WireWriter& told);

  std::string scenario_;
  study::TaskQueue& queue_;
  DaskProcess process_;
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
