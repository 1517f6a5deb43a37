#pragma once

#include <functional>

#include "api/dadsim.hpp"

namespace dadsim::api {

/// Does `work` as a call of this library: after those of other threads, with as many threads as asked for, progress
/// told to whom it is to be told, and its errors as those of the interface, in the words of the program.
void as_a_call(const Options& options, const std::function<void()>& work);

/// Runs `wait` in a call with these options, and lets calls of other threads have their turn meanwhile: those that do
/// tasks of this one in its own process.
void wait_aside(const Options& options, const std::function<void()>& wait);

/// How errors become those of the interface, for what neither waits nor counts threads.
void with_errors_of_ours(const std::function<void()>& work);

/// Simulations at a time: as asked for, or as many as the machine has.
std::size_t threads_of(const Options& options);

}  // namespace dadsim::api
