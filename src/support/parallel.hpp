#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>

#include "support/interrupt.hpp"

namespace dadsim {

/// Returns the number of threads that parallel_for may use here.
inline std::size_t thread_limit() {
  return std::min(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism),
                  static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
}

/// Calls `loop(context)`, one of TBB's loops, such that it completes or throws. If a body throws, TBB also cancels
/// loops inside other bodies, which then return silently with unfinished work. These loops therefore throw Cancelled,
/// which only the other bodies see.
template <class Loop>
void whole_or_cancelled(const Loop& loop) {
  tbb::task_group_context context;
  // Isolated, so that a waiting thread does not start another training run meanwhile.
  tbb::this_task_arena::isolate([&] { loop(context); });
  if (context.is_group_execution_cancelled()) throw Cancelled();
}

/// Calls `body(i)` for every i in [0, count), possibly in parallel. Bodies must be independent, so that the result is
/// the same for any number of threads. Rethrows an exception of a body, after which some bodies may not have been
/// called.
template <class Body>
void parallel_for(std::size_t count, Body&& body) {
  if (count == 0) return;
  if (count == 1) {
    body(std::size_t{0});
    return;
  }
  whole_or_cancelled([&](tbb::task_group_context& context) {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, count, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
          for (std::size_t i = range.begin(); i != range.end(); ++i) body(i);
        },
        tbb::simple_partitioner(), context);
  });
}

/// Calls `body(begin, end)` for blocks of [0, count) of a fixed size, possibly in parallel. Neither the blocks nor
/// rounding depend on the number of threads.
template <class Body>
void parallel_for_blocks(std::size_t count, std::size_t block, Body&& body) {
  const std::size_t blocks = (count + block - 1) / block;
  parallel_for(blocks, [&](std::size_t i) { body(i * block, std::min(count, (i + 1) * block)); });
}

}  // namespace dadsim
