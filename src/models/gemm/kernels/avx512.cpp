// Compiled with additional instructions (src/CMakeLists.txt).
#ifdef __x86_64__
#include "models/gemm/kernels/loops.hpp"

#ifndef __AVX512F__
#error "this file needs AVX-512; compile it with -mavx512f"
#endif

namespace dadsim::models {

const Kernels kAvx512Kernels = kLoops;

}  // namespace dadsim::models
#endif
