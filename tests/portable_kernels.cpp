#include <cstdlib>

// Part of every test program: reference values are of the kernels that every processor has (support/kernel_set.hpp),
// here and in the programs that a test starts. DADSIM_KERNELS=avx2 in front of a test looks at other kernels.

namespace {

[[maybe_unused]] const bool kPortable = ::setenv("DADSIM_KERNELS", "portable", 0) == 0;

}  // namespace
