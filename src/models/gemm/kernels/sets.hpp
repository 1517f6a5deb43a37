#pragma once

#include "models/gemm/kernels.hpp"

// Compiled sets of kernels, each in the file of its name. kPortableAvx2Kernels gives the bits of kPortableKernels,
// sooner.

namespace dadsim::models {

struct Kernels {
  KernelsOf<float> of_float;
  KernelsOf<double> of_double;
};

extern const Kernels kPortableKernels;
#ifdef __x86_64__
extern const Kernels kPortableAvx2Kernels, kAvx2Kernels, kAvx512Kernels;
#endif

}  // namespace dadsim::models
