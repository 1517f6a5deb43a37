#pragma once

#include <cstddef>
#include <utility>

#include "support/parallel.hpp"

namespace dadsim {

/// True if a process may be forked while other threads run. The child repairs the C library's allocator, but not those
/// of AddressSanitizer and ThreadSanitizer (g++ 12): if another thread held one at that moment, the child would wait
/// forever.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kForksBesideThreads = false;
#else
inline constexpr bool kForksBesideThreads = true;
#endif

/// Runs parallel_for for bodies that fork; sequentially if they may not fork in parallel.
template <class Body>
void parallel_for_forks(std::size_t count, Body&& body) {
  if constexpr (kForksBesideThreads) {
    parallel_for(count, std::forward<Body>(body));
  } else {
    for (std::size_t i = 0; i < count; ++i) body(i);
  }
}

}  // namespace dadsim
