#pragma once

#include "models/kernels/array_kernels.hpp"

// The sets of them that are compiled, each in the file of its name.

namespace dadsim::models {

extern const ArrayKernels kPortableArrayKernels;
#ifdef __x86_64__
extern const ArrayKernels kAvx2ArrayKernels, kAvx512ArrayKernels;
#endif

}  // namespace dadsim::models
