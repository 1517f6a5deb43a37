#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "study/remote/task_queue.hpp"
#include "study/sweep/run.hpp"

namespace dadsim::study {

/// Has other processes run all points that the file lacks. Opens or creates the file. One process learns for all trials
/// with the same learning. A trial that no process can run is left out, and reported at the end. The file of a complete
/// sweep has the same bytes whichever process ran a trial. `on_open` is called once the file is open. Throws InputError
/// if the file belongs to another sweep, or a process has another scenario, build or results; EnvironmentError,
/// OutputError; Cancelled, with the number of trials in the file.
SweepProgressNumbers run_sweep(const SweepPoints& sweep, const std::string& file, TaskQueue& queue, bool show_progress,
                               const std::function<void()>& on_open = {});

/// Return the context shared by all trial tasks of a sweep, and the task of one trial.
std::shared_ptr<const TaskContext> context_of_trials(const SweepPoints& sweep, const SweepIdentity& identity);
std::string task_of_trial(const SweepPoints& sweep, const SweepTrial& trial);

/// Does such tasks with the scenario at the local `path`. The first result is a file of results as bytes (trials, done
/// or failed, and what was learned for them); the others are empty. The states of a task, if any, are what others have
/// learned for it (remote/remote_learning.hpp). Throws InputError if the scenario differs there, EnvironmentError,
/// Cancelled.
std::vector<std::string> do_trials(const std::string& path, const TaskPiece& piece, const TaskStates& states,
                                   std::size_t threads);

/// Adds results of do_trials() to the file of their sweep. Trials already in the file must be equal. Throws InputError
/// if results belong to another sweep or build, are damaged, or differ from existing ones; OutputError. `from` names
/// the results in messages.
void take_results(Database& file, const SweepIdentity& sweep, std::string_view results, const std::string& from);

/// Executes a piece of a TaskQueue with the scenario at the local `path`, and returns the input of TaskQueue::take().
/// `states`: the states that the piece names, as bytes. `threads`: parallel simulations. Throws InputError if the local
/// scenario differs, or the piece is damaged; SimulationError, Cancelled.
std::string do_tasks(const std::string& path, std::string_view piece, TaskStates states, std::size_t threads = 1);

}  // namespace dadsim::study
