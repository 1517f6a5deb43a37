#pragma once

namespace dadsim::test {

/// True if the tests and the program that they start are built with a sanitizer. Such a build is many times slower, so
/// tests learn for one epoch: they show that learning runs without findings, not its results.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace dadsim::test
