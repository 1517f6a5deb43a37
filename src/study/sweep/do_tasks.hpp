#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "study/remote/task_queue.hpp"

namespace dadsim::study {

/// Does a piece of a TaskQueue with the scenario that lies at `path`, and returns what TaskQueue::take() reads.
/// `states`: what the piece names, by name, as bytes. `threads`: simulations at a time. Throws InputError where the
/// scenario is another one there, or the piece is damaged; SimulationError, Cancelled.
std::string do_tasks(const std::string& path, std::string_view piece, TaskStates states, std::size_t threads = 1);

}  // namespace dadsim::study
