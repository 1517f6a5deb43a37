// Eigen by a name of its own: what is compiled here is nobody else's.
#define Eigen dadsim_eigen_portable
#include "models/kernels/array_loops.hpp"

namespace dadsim::models {

const ArrayKernels kPortableArrayKernels = kArrayLoops;

}  // namespace dadsim::models
