#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>

namespace dadsim {

/// Threads that parallel_for may use here.
inline std::size_t thread_limit() {
  return std::min(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism),
                  static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
}

/// Calls `body(i)` for every i in [0, count), possibly at the same time. Bodies must not depend on each other, so that
/// the result is the same for any number of threads.
template <class Body>
void parallel_for(std::size_t count, Body&& body) {
  if (count == 0) return;
  if (count == 1) {
    body(std::size_t{0});
    return;
  }
  // Isolated: a thread that waits here must not pick up a whole other training run meanwhile.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, count, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
          for (std::size_t i = range.begin(); i != range.end(); ++i) body(i);
        },
        tbb::simple_partitioner());
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
