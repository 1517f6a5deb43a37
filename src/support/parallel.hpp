#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>

#include "support/interrupt.hpp"

namespace dadsim {

/// Threads that parallel_for may use here.
inline std::size_t thread_limit() {
  return std::min(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism),
                  static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
}

/// Calls `loop(context)`, one of TBB's loops, so that it is carried out whole or throws. Where a body of a loop throws,
/// TBB gives up the loops inside its other bodies too, and these return without a word with parts of their work not
/// done: what was to be filled by them must not be used. So they throw Cancelled, which nobody sees but those other
/// bodies.
template <class Loop>
void whole_or_cancelled(const Loop& loop) {
  tbb::task_group_context context;
  // Isolated: a thread that waits here must not pick up a whole other training run meanwhile.
  tbb::this_task_arena::isolate([&] { loop(context); });
  if (context.is_group_execution_cancelled()) throw Cancelled();
}

/// Calls `body(i)` for every i in [0, count), possibly at the same time. Bodies must not depend on each other, so that
/// the result is the same for any number of threads. Throws what a body throws; then some may not have been called.
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

/// Cuts [0, count) into blocks of a fixed size and calls `body(begin, end)` for each, possibly at the same time.
/// The cuts do not depend on the number of threads, and so neither does the rounding.
template <class Body>
void parallel_for_blocks(std::size_t count, std::size_t block, Body&& body) {
  const std::size_t blocks = (count + block - 1) / block;
  parallel_for(blocks, [&](std::size_t i) { body(i * block, std::min(count, (i + 1) * block)); });
}

}  // namespace dadsim
