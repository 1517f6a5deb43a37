#pragma once

#include <cstdlib>
#include <string>

#include "support/kernel_set.hpp"

namespace dadsim::test {

/// Sets the kernels to AVX2 while an object lives, in this process and the programs that it starts, if the processor
/// has AVX2. Tests without digits as reference values (who wins, whether a target is reached) use it because the
/// portable kernels take longer. AVX-512 is not used, so that nearly every machine decides alike. Kernels with which
/// this process has learned before stay.
class QuickKernels {
 public:
  QuickKernels() {
    if (const char* before = std::getenv(kName)) before_ = before;
    if (before_ == "portable" && runs_here(KernelSet::avx2)) ::setenv(kName, "avx2", 1);
  }
  ~QuickKernels() { ::setenv(kName, before_.c_str(), 1); }
  QuickKernels(const QuickKernels&) = delete;
  QuickKernels& operator=(const QuickKernels&) = delete;

 private:
  static constexpr const char* kName = "DADSIM_KERNELS";
  std::string before_ = "portable";
};

}  // namespace dadsim::test
