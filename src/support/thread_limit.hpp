#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cstddef>

namespace dadsim {

/// Most threads that may be requested: each takes memory, and no machine has as many processors for one process.
inline constexpr std::size_t kMostThreads = 1024;

/// Limits the threads of this process's loops during this object's life. Throws std::bad_alloc.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::size_t threads) : limit_(after_set_up(), threads) {}

 private:
  /// Sets up oneTBB before there is a limit. If it is denied memory for its set-up, on first use, it waits forever when
  /// a limit is lifted.
  static tbb::global_control::parameter after_set_up() {
    static_cast<void>(tbb::this_task_arena::max_concurrency());
    return tbb::global_control::max_allowed_parallelism;
  }

  tbb::global_control limit_;
};

}  // namespace dadsim
