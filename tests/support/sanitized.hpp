#pragma once

namespace dadsim::test {

/// Whether these tests, and the program that they start, are built with a sanitizer: many times slower, so one epoch
/// shows that a learning is clean, not what it learns.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace dadsim::test
