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

/// Has other processes run all points that the file lacks, which is opened or made. One process learns for all trials
/// that share it. A trial that no process can do is left out, and told at the end. The file of a sweep that
/// is complete has the same bytes whoever did what. `on_open` is called once the file is open. Throws InputError where
/// the file is of another sweep, or a process has another scenario or build, or other results than are there;
/// EnvironmentError, OutputError; Cancelled, with how many trials are in the file.
SweepProgressNumbers run_sweep(const SweepPoints& sweep, const std::string& file, TaskQueue& queue, bool show_progress,
                               const std::function<void()>& on_open = {});

/// The context that trials of a sweep share as tasks, and one of these tasks.
std::shared_ptr<const TaskContext> context_of_trials(const SweepPoints& sweep, const SweepIdentity& identity);
std::string task_of_trial(const SweepPoints& sweep, const SweepTrial& trial);

/// Does such tasks with the scenario that lies at `path`. The first result is a file of results as bytes: trials, done
/// or failed, and what was learned for them; the others are empty. The states of a task, if there are any: what others
/// have learned for it (remote/learn_elsewhere.hpp). Throws InputError where the scenario is another one there,
/// EnvironmentError, Cancelled.
std::vector<std::string> do_trials(const std::string& path, const TaskPiece& piece, const TaskStates& states,
                                   std::size_t threads);

/// Puts such results into the file of their sweep. A trial that is there already has to be the same. Throws InputError
/// where they are of another sweep or build, damaged, or differ from what is there; OutputError. `from` is what
/// messages call them.
void take_results(Database& file, const SweepIdentity& sweep, std::string_view results, const std::string& from);

/// Does a piece of a TaskQueue with the scenario that lies at `path`, and returns what TaskQueue::take() reads.
/// `states`: what the piece names, by name, as bytes. `threads`: simulations at a time. Throws InputError where the
/// scenario is another one there, or the piece is damaged; SimulationError, Cancelled.
std::string do_tasks(const std::string& path, std::string_view piece, TaskStates states, std::size_t threads = 1);

}  // namespace dadsim::study
