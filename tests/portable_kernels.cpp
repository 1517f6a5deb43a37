#include <cstdlib>

// Part of every test program. Selects the portable kernels (support/kernel_set.hpp), from which reference values come,
// also for programs that a test starts. DADSIM_KERNELS=avx2 before a test selects other kernels.

namespace {

[[maybe_unused]] const bool kPortable = ::setenv("DADSIM_KERNELS", "portable", 0) == 0;

}  // namespace
