#include "models/gemm/kernels/loops.hpp"

namespace dadsim::models {

// What every processor of the architecture has: of x86-64 SSE2.
const Kernels kPortableKernels = kLoops;

}  // namespace dadsim::models
