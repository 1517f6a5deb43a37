#pragma once

#include <vector>

#include "plan/specification.hpp"

// The families of the catalogue, one file each. Peaks are those of dense fp32 arithmetic on the ordinary (vector)
// units, where a fused multiply-add counts as two flop; tensor cores and reduced precision are left out.
//
// What a data sheet does not say is assumed, alike for a whole class of devices and never per workload:
// - matrix efficiency 0.8 on data-centre GPUs: long matrix products reach 80–87 % of the peak (271 of 312 TFLOP/s in
// bf16 on an
//   A100, 795 of 989 on an H100: S. Bekman, "Machine Learning Engineering", compute/accelerator, maximum achievable
//   matmul FLOPS). Measured in bf16, assumed for fp32. 0.6 on consumer GPUs, whose two halves of the fp32 units share
//   issue slots with integer work (assumed); 0.7 on CPUs (assumed).
// - memory efficiency 0.85 on GPUs and 0.8 on CPUs: what streaming copies reach of the nominal rate (assumed).
// - launch overhead 5 µs per kernel on GPUs, 1 µs per parallel region on CPUs (assumed).

namespace dadsim::devices {

std::vector<DeviceSpec> volta();
std::vector<DeviceSpec> ampere();
std::vector<DeviceSpec> hopper();
std::vector<DeviceSpec> geforce();
std::vector<DeviceSpec> xeon();

}  // namespace dadsim::devices
