#pragma once

#include <functional>

#include "api/dadsim.hpp"

namespace dadsim::api {

/// Runs `work` as a call of this library: after calls of other threads, with the requested threads and progress.
/// Converts its errors to the interface's, with the program's messages.
void as_a_call(const Options& options, const std::function<void()>& work);

/// Runs `wait` in a call with these options, and meanwhile lets calls of other threads have their turn; these may do
/// tasks of this call in the same process.
void wait_aside(const Options& options, const std::function<void()>& wait);

/// Converts errors to the interface's, for work that neither waits for its turn nor uses threads.
void with_errors_of_ours(const std::function<void()>& work);

/// Returns the number of threads, and of parallel simulations of a sweep: as requested; by default, the number of the
/// machine's threads. Throws InputError if too many are requested.
std::size_t threads_of(const Options& options);

}  // namespace dadsim::api
