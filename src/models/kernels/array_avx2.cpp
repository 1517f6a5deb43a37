// Compiled with instructions of its own (src/CMakeLists.txt).
#ifdef __x86_64__
// Eigen by a name of its own: what is compiled here is nobody else's.
#define Eigen dadsim_eigen_avx2
#include "models/kernels/array_loops.hpp"

namespace dadsim::models {

const ArrayKernels kAvx2ArrayKernels = kArrayLoops;

}  // namespace dadsim::models
#endif
