#pragma once

#include <cstdlib>
#include <string>

#include "support/kernel_set.hpp"

namespace dadsim::test {

/// Where no digit is a reference value (who wins, what is reached), the kernels that every processor has only take
/// longer: while this lives, this process and the programs that it starts learn with those of AVX2 where the processor
/// has them. Not with the quickest, so that what is decided is decided alike on nearly every machine. What this process
/// has learned with before stays.
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
