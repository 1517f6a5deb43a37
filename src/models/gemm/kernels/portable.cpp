#include "models/gemm/kernels/loops.hpp"

namespace dadsim::models {

// Instructions that every processor of the architecture has: SSE2 on x86-64.
const Kernels kPortableKernels = kLoops;

}  // namespace dadsim::models
