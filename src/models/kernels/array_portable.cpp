// Renames Eigen's namespace, so that the linker does not share this code with other files.
#define Eigen dadsim_eigen_portable
#include "models/kernels/array_loops.hpp"

namespace dadsim::models {

const ArrayKernels kPortableArrayKernels = kArrayLoops;

}  // namespace dadsim::models
