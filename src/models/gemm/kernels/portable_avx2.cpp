// Compiled with additional instructions (src/CMakeLists.txt).
#ifdef __x86_64__
#include "models/gemm/kernels/loops.hpp"

#if !defined(__AVX2__) || defined(__FMA__)
#error "this file is compiled for AVX2 without FMA"
#endif

namespace dadsim::models {

const Kernels kPortableAvx2Kernels = kLoops;

}  // namespace dadsim::models
#endif
