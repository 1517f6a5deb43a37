#include "models/kernels/array_kernels.hpp"

#include "models/kernels/array_sets.hpp"

namespace dadsim::models {
namespace {

const ArrayKernels& kernels_of_set([[maybe_unused]] KernelSet set) {
#ifdef __x86_64__
  if (set == KernelSet::avx512) return kAvx512ArrayKernels;
  if (set == KernelSet::avx2) return kAvx2ArrayKernels;
#endif
  return kPortableArrayKernels;
}

}  // namespace

const ArrayKernels& array_kernels() {
  static const ArrayKernels& chosen = kernels_of_set(kernel_set());
  return chosen;
}

}  // namespace dadsim::models
