// Compiled with additional instructions (src/CMakeLists.txt).
#ifdef __x86_64__
// Renames Eigen's namespace, so that the linker does not share this code with other files.
#define Eigen dadsim_eigen_avx2
#include "models/kernels/array_loops.hpp"

namespace dadsim::models {

const ArrayKernels kAvx2ArrayKernels = kArrayLoops;

}  // namespace dadsim::models
#endif
