#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::study {

/// Context that a process loads before its tasks; tasks with one context are sent together.
struct TaskContext {
  enum class Kind : std::uint8_t {
    operations,  ///< operations of a History (remote_learning.hpp)
    learning,    ///< all learning of a scenario
    trials,      ///< trials of a sweep (sweep/remote_trials.hpp)
  };
  Kind kind = Kind::operations;
  std::vector<std::string> overrides{};  ///< overrides of the scenario
  std::uint64_t hash = 0;                ///< hash of data that must be equal in the other process
  std::string about{};                   ///< further data that all tasks of the context share
};

/// Data that tasks need, with a name that is unique over all machines and calls.
struct NamedState {
  std::string name;
  std::function<std::string()> bytes;  ///< makes the bytes on demand
};

/// Queue of tasks between the study's thread and the threads that send tasks to other processes. A task is data, for a
/// process of the same build that has the scenario.
class TaskQueue {
 public:
  using TaskId = std::uint64_t;

  // ---- the study's side ----
  /// Posts a task. Thread-safe. `states`: data that the task needs; shared data are sent by name.
  TaskId post(const std::shared_ptr<const TaskContext>& context, std::string task, std::vector<NamedState> states = {});
  struct Done {
    TaskId task = 0;
    std::string result;
    std::string from;     ///< name of the worker
    std::string fault{};  ///< fault that kept every process from doing the task; empty: done
  };
  /// Sets `aside`, which wraps each wait for results so that tasks in this process continue meanwhile.
  void wait_aside(std::function<void(const std::function<void()>& wait)> aside) { aside_ = std::move(aside); }
  /// Returns the results since the last call, after a short wait. Throws the error of fail().
  std::vector<Done> wait();
  /// Waits for all of these tasks and returns their results, in order. No other thread may wait for them. Throws the
  /// error of fail(), or Cancelled.
  std::vector<std::string> wait_for(const std::vector<TaskId>& tasks);
  /// Makes the failure of a task its result, while others continue. By default a failed task ends the study.
  void let_each_count();
  std::size_t open() const;  ///< number of tasks posted but not distributed
  /// Drops all posted tasks.
  void forget();
  /// Declares that no more tasks will be posted.
  void close();

  // ---- the distributor's side ----
  struct Piece {
    std::uint64_t id = 0;             ///< 0: there is none
    std::size_t tasks = 0;            ///< number of tasks in it
    std::size_t open = 0;             ///< number of tasks left
    std::string bytes;                ///< argument of do_tasks()
    std::vector<std::string> states;  ///< names of the further states that the tasks need
  };
  /// Returns at most `most` tasks of one context; waits up to `seconds` for one.
  Piece next(std::size_t most, double seconds);
  bool closed() const;
  /// Returns a state as bytes; empty if it is no longer needed.
  std::string state(const std::string& name) const;
  /// Takes the result of do_tasks() for a piece. Results that are no longer needed are dropped; results of a piece done
  /// twice must be equal. Throws InputError; `from` names the worker in messages.
  void take(std::uint64_t piece, std::string_view results, const std::string& from);
  /// Takes back a piece that was not done. Its tasks are offered again, in pieces of at most half as many tasks.
  void put_back(std::uint64_t piece);
  /// Gives up a piece that no worker can do: see let_each_count(). `piece` 0: the scheduler is gone.
  void give_up(std::uint64_t piece, const std::string& why);
  /// Ends the study because tasks cannot be done. `is_input`: the scenario or the build is at fault.
  void fail(const std::string& why, bool is_input);

 private:
  struct Task {
    TaskId id = 0;
    std::shared_ptr<const TaskContext> context;
    std::string text;
    std::vector<std::string> states;
    std::size_t at_most = static_cast<std::size_t>(-1);  ///< largest number of tasks in a piece with this task
  };
  struct State {
    std::function<std::string()> bytes;
    std::size_t users = 0;
    bool is_shared = false;  ///< true: more than one task has needed it
  };
  void let_go(const Task& task);
  void end_with(std::exception_ptr failed);
  std::string bytes_of(const std::vector<Task>& tasks, std::vector<std::string>& names) const;

  std::function<void(const std::function<void()>&)> aside_;
  mutable std::mutex mutex_;
  std::condition_variable posted_, finished_;
  TaskId last_ = 0;
  std::uint64_t last_piece_ = 0;
  std::deque<Task> open_;
  std::map<std::uint64_t, std::vector<Task>> handed_;  ///< tasks by piece
  std::map<std::uint64_t, std::uint64_t> was_taken_;   ///< hashes of accepted results, by piece
  std::map<std::string, State> states_;
  std::vector<Done> done_;
  bool closed_ = false, each_counts_ = false;
  std::exception_ptr failed_;
};

/// States as bytes, by name.
using TaskStates = std::map<std::string, std::string>;

/// A piece, as its worker receives it.
struct TaskPiece {
  struct Item {
    std::string task;
    std::vector<std::string> states;  ///< names
  };
  TaskContext context;
  std::vector<Item> items;
  std::vector<std::string> inline_names, inline_states;  ///< data needed by one task only, as bytes
};
/// Reads a piece, and adds its own states to `states`, which contains those it refers to by name. Throws InputError for
/// invalid bytes.
TaskPiece task_piece_from_bytes(std::string_view bytes, TaskStates& states);
/// Serialises the results of a piece's tasks, in order, for take().
std::string results_to_bytes(const std::vector<std::string>& results);

}  // namespace dadsim::study
