#pragma once

#include <cstddef>
#include <utility>

#include "support/parallel.hpp"

namespace dadsim {

/// Whether a process may be forked while other threads go on. The C library's allocator is made whole in the child;
/// those of AddressSanitizer and ThreadSanitizer (g++ 12) are not: where another thread held it at that moment, the
/// child waits for it for ever.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kForksBesideThreads = false;
#else
inline constexpr bool kForksBesideThreads = true;
#endif

/// parallel_for for bodies that fork, one after the other where they may not fork at the same time.
template <class Body>
void parallel_for_forks(std::size_t count, Body&& body) {
  if constexpr (kForksBesideThreads) {
    parallel_for(count, std::forward<Body>(body));
  } else {
    for (std::size_t i = 0; i < count; ++i) body(i);
  }
}

}  // namespace dadsim
