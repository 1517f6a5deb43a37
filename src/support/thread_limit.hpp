#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cstddef>

namespace dadsim {

/// Largest number of threads that a user may request, because each takes memory.
inline constexpr std::size_t kMostThreads = 1024;

/// Limits the threads of this process's parallel loops while this object exists. Throws std::bad_alloc.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::size_t threads) : limit_(after_set_up(), threads) {}

 private:
  /// Initialises oneTBB before there is a limit. If its first use is denied memory, oneTBB would otherwise wait forever
  /// when a limit is lifted.
  static tbb::global_control::parameter after_set_up() {
    static_cast<void>(tbb::this_task_arena::max_concurrency());
    return tbb::global_control::max_allowed_parallelism;
  }

  tbb::global_control limit_;
};

}  // namespace dadsim
