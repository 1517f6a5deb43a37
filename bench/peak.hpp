#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

#include "support/kernel_set.hpp"

// Measures the peak of one core with this process's instruction set: multiply-adds of floats in registers.

namespace dadsim::bench {

inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// More independent sums than the latency of multiply-adds on two ports, so that no sum waits for its own result.
constexpr int kPeakSums = 12;

/// Adds `steps` multiply-adds to each sum; `Packet` is a vector of floats.
template <class Packet>
[[gnu::always_inline]] inline void multiply_in_registers(long steps) {
  Packet sum[kPeakSums] = {};
  Packet a = Packet{} + 1.0001F;
  Packet b = Packet{} + 0.9999F;
  for (Packet& s : sum) asm volatile("" : "+x"(s));  // hides from the compiler that all sums are equal
  for (long step = 0; step < steps; ++step) {
    for (Packet& s : sum) s = a * b + s;
    asm volatile("" : "+x"(a), "+x"(b));
  }
  for (Packet& s : sum) asm volatile("" : "+x"(s));
}

using Packet4 [[gnu::vector_size(16)]] = float;
inline void multiply_portable(long steps) { multiply_in_registers<Packet4>(steps); }
#ifdef __x86_64__
using Packet8 [[gnu::vector_size(32)]] = float;
using Packet16 [[gnu::vector_size(64)]] = float;
[[gnu::target("avx2,fma")]] inline void multiply_avx2(long steps) { multiply_in_registers<Packet8>(steps); }
[[gnu::target("avx512f,avx512vl,fma")]] inline void multiply_avx512(long steps) {
  multiply_in_registers<Packet16>(steps);
}
#endif

/// Returns the Gflop/s, by processor time, of a burst of some milliseconds.
inline double burst_gflops() {
  constexpr long kSteps = 500'000;
  const KernelSet set = kernel_set();
  const double start = processor_seconds();
  int lanes = 4;
#ifdef __x86_64__
  if (set == KernelSet::avx512) {
    lanes = 16;
    multiply_avx512(kSteps);
  } else if (set == KernelSet::avx2) {
    lanes = 8;
    multiply_avx2(kSteps);
  }
#endif
  if (lanes == 4) multiply_portable(kSteps);
  return 2e-9 * static_cast<double>(kSteps * kPeakSums * lanes) / (processor_seconds() - start);
}

}  // namespace dadsim::bench
