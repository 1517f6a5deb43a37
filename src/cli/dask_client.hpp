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

/// A Python process (python/dadsim/remote.py) that requests work from this process, and distributes it to the workers
/// of Dask. It has its own process group, so that signals of the terminal do not reach it. The destructor ends it.
class DaskProcess {
 public:
  /// Starts the process for a scheduler, e.g. "tcp://10.0.0.1:8786". Throws EnvironmentError if Python is missing.
  explicit DaskProcess(const std::string& scheduler);
  ~DaskProcess();
  DaskProcess(const DaskProcess&) = delete;
  DaskProcess& operator=(const DaskProcess&) = delete;

  using Answer = std::function<void(char question, WireReader& asked, WireWriter& told)>;
  /// Answers the requests of the Python process until it ends, or until this process is interrupted. Prints the
  /// standard error output of the Python process, with escapes for terminals.
  void serve(const Answer& answer);

 private:
  void pass_words_on();

  pid_t child_ = -1;
  int questions_ = -1, answers_ = -1, words_ = -1;  ///< file descriptors: requests, answers, standard error of the
                                                    ///< process
  std::string unsaid_;                              ///< incomplete last line of its standard error
  bool ended_ = false;
};

/// Distributes the tasks of a queue to the workers of Dask during the lifetime of this object. A failed task, or the
/// end of the Python process, fails the queue.
class DaskClient {
 public:
  /// `scenario`: path of the scenario file. The caller must have read it and all its files. Throws like DaskProcess.
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

/// Task queue of a command with `--on`, and the client that distributes its tasks after start(). Without `--on`, does
/// nothing.
class TasksElsewhere {
 public:
  TasksElsewhere(std::string scheduler, std::string scenario)
      : scheduler_(std::move(scheduler)), scenario_(std::move(scenario)) {}

  /// Starts the client. The caller must have read the scenario. Throws like DaskClient.
  void start() {
    if (!scheduler_.empty()) client_.emplace(scheduler_, scenario_, queue_);
  }
  study::TaskQueue* queue() { return scheduler_.empty() ? nullptr : &queue_; }

 private:
  std::string scheduler_, scenario_;
  study::TaskQueue queue_;
  std::optional<DaskClient> client_;  ///< declared last, because it must be destroyed before the queue
};

}  // namespace dadsim::cli
