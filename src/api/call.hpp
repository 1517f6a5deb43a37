#pragma once

#include <functional>

#include "api/dadsim.hpp"

namespace dadsim::api {

/// Runs `work` as a call of this library: after the calls of other threads, with the requested threads and progress,
/// and with its errors as the interface's, in the program's words.
void as_a_call(const Options& options, const std::function<void()>& work);

/// Runs `wait` in a call with these options, and lets calls of other threads have their turn meanwhile: calls that do
/// tasks of this one in the same process.
void wait_aside(const Options& options, const std::function<void()>& wait);

/// Converts errors to the interface's, for work that neither waits nor counts threads.
void with_errors_of_ours(const std::function<void()>& work);

/// Returns the number of parallel simulations: as requested, or as many as the machine has threads.
std::size_t threads_of(const Options& options);

}  // namespace dadsim::api
