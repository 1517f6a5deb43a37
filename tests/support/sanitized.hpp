#pragma once

namespace dadsim::test {

/// True if a sanitizer is built into the tests and the program that they start. Such builds are many times slower.
/// Tests then learn for one epoch, to show that learning runs without findings and not what it learns.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace dadsim::test
