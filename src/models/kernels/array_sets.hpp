#pragma once

#include "models/kernels/array_kernels.hpp"

// The compiled sets of kernels, each in the file with its name.

namespace dadsim::models {

extern const ArrayKernels kPortableArrayKernels;
#ifdef __x86_64__
extern const ArrayKernels kAvx2ArrayKernels, kAvx512ArrayKernels;
#endif

}  // namespace dadsim::models
