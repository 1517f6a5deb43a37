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

/// What a process loads before it does a task; tasks of the same travel together.
struct TaskContext {
  enum class Kind : std::uint8_t {
    operations,  ///< of a History (remote_learning.hpp)
    learning,    ///< all that a scenario learns
    trials,      ///< of a sweep (sweep/remote_trials.hpp)
  };
  Kind kind = Kind::operations;
  std::vector<std::string> overrides{};  ///< of the scenario
  std::uint64_t hash = 0;                ///< of what is to be the same there
  std::string about{};                   ///< more that all tasks of the context share
};

/// Bytes that tasks need, and the name that they have wherever they are: of all machines and calls.
struct NamedState {
  std::string name;
  std::function<std::string()> bytes;  ///< made where they are needed
};

/// Tasks that other processes do for a study, which waits for them: between the thread of the study and those that
/// hand them out. A task is data, for a process of the same build that has the scenario.
class TaskQueue {
 public:
  using TaskId = std::uint64_t;

  // ---- for the study ----
  /// For several threads. `states`: what the task needs; what several need travels by its name.
  TaskId post(const std::shared_ptr<const TaskContext>& context, std::string task, std::vector<NamedState> states = {});
  struct Done {
    TaskId task = 0;
    std::string result;
    std::string from;     ///< who did it
    std::string fault{};  ///< no process could do it; empty: it is done
  };
  /// Each wait for what is done is handed to `aside`, which lets those who do tasks in this process go on meanwhile.
  void wait_aside(std::function<void(const std::function<void()>& wait)> aside) { aside_ = std::move(aside); }
  /// What has been done since the last call; waits for a moment. Throws what fail() was called with.
  std::vector<Done> wait();
  /// Waits for all of these tasks, which nobody else waits for; their results, in order. Throws Cancelled too.
  std::vector<std::string> wait_for(const std::vector<TaskId>& tasks);
  /// From now on a task that no process can do is told as such, and the others go on. Else the study ends with it.
  void let_each_count();
  std::size_t open() const;  ///< posted, and not handed out
  /// Nothing that was posted is wanted any more.
  void forget();
  /// Nothing will be posted any more.
  void close();

  // ---- for those who hand out ----
  struct Piece {
    std::uint64_t id = 0;             ///< 0: there was none
    std::size_t tasks = 0;            ///< in it
    std::size_t open = 0;             ///< that are left
    std::string bytes;                ///< for do_tasks()
    std::vector<std::string> states;  ///< names of those that it needs beside
  };
  /// Some tasks of one context, at most so many; waits so long for one.
  Piece next(std::size_t most, double seconds);
  bool closed() const;
  /// As bytes; empty where nobody needs it any more.
  std::string state(const std::string& name) const;
  /// What do_tasks() gave for a piece. Results of what is not wanted any more are let go; where a piece was done twice,
  /// the results have to be the same. Throws InputError; `from` is what messages call who did it.
  void take(std::uint64_t piece, std::string_view results, const std::string& from);
  /// A piece was not done: its tasks will be had again, in pieces of at most half as many.
  void put_back(std::uint64_t piece);
  /// A piece was not done, and nobody can do it: see let_each_count(). `piece` 0: the scheduler is gone.
  void give_up(std::uint64_t piece, const std::string& why);
  /// Tasks cannot be done: the study ends with that. `is_input`: the scenario, or the build, is to blame.
  void fail(const std::string& why, bool is_input);

 private:
  struct Task {
    TaskId id = 0;
    std::shared_ptr<const TaskContext> context;
    std::string text;
    std::vector<std::string> states;
    std::size_t at_most = static_cast<std::size_t>(-1);  ///< in a piece
  };
  struct State {
    std::function<std::string()> bytes;
    std::size_t users = 0;
    bool is_shared = false;  ///< several tasks have needed it
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
  std::map<std::uint64_t, std::vector<Task>> handed_;  ///< by piece
  std::map<std::uint64_t, std::uint64_t> was_taken_;   ///< fingerprints of results, by piece
  std::map<std::string, State> states_;
  std::vector<Done> done_;
  bool closed_ = false, each_counts_ = false;
  std::exception_ptr failed_;
};

/// States by their names, as bytes.
using TaskStates = std::map<std::string, std::string>;

/// A piece as who does it reads it.
struct TaskPiece {
  struct Item {
    std::string task;
    std::vector<std::string> states;  ///< names
  };
  TaskContext context;
  std::vector<Item> items;
  std::vector<std::string> inline_names, inline_states;  ///< what one task alone needs, as bytes
};
/// Throws InputError where the bytes are none of a Piece. `states`: what it names; those that it has come to them.
TaskPiece task_piece_from_bytes(std::string_view bytes, TaskStates& states);
/// What was made of the tasks of a piece, in order, as take() reads it.
std::string results_to_bytes(const std::vector<std::string>& results);

}  // namespace dadsim::study
