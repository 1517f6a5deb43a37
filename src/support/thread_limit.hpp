#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cstddef>

namespace dadsim {

/// More are not to be asked for: each takes memory, and no machine has as many processors for one process.
inline constexpr std::size_t kMostThreads = 1024;

/// As long as it lives, loops of this process use so many threads at the most. Throws std::bad_alloc.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::size_t threads) : limit_(after_set_up(), threads) {}

 private:
  /// oneTBB sets itself up when it is first used. Where it is denied memory for that, it waits for itself for ever when
  /// a limit is lifted: it is set up before there is one.
  static tbb::global_control::parameter after_set_up() {
    static_cast<void>(tbb::this_task_arena::max_concurrency());
    return tbb::global_control::max_allowed_parallelism;
  }

  tbb::global_control limit_;
};

}  // namespace dadsim
