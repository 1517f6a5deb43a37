#include "models/gemm/kernels.hpp"

#include "models/gemm/kernels/sets.hpp"

namespace dadsim::models {
namespace {

const Kernels& both_of([[maybe_unused]] KernelSet set) {
#ifdef __x86_64__
  if (set == KernelSet::avx512) return kAvx512Kernels;
  if (set == KernelSet::avx2) return kAvx2Kernels;
  if (runs_here(KernelSet::avx2)) return kPortableAvx2Kernels;
#endif
  return kPortableKernels;
}

}  // namespace

template <>
const KernelsOf<float>& kernels_of<float>(KernelSet set) {
  return both_of(set).of_float;
}
template <>
const KernelsOf<double>& kernels_of<double>(KernelSet set) {
  return both_of(set).of_double;
}

}  // namespace dadsim::models
