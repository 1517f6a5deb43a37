#include "sim/devices/families.hpp"

namespace dadsim::devices {

std::vector<DeviceSpec> ampere() {
  return {
      {.name = "a100-sxm4-40",
       .description = "NVIDIA A100 SXM4 40 GB, fp32 without tensor cores",
       .peak_flops = 19.5e12,
       .memory_bandwidth = 1555e9,
       .matrix_efficiency = 0.8,
       .memory_efficiency = 0.85,
       .launch_overhead = 5e-6,
       .source = "NVIDIA A100 data sheet (2021), as tabulated in S. Bekman, Machine Learning Engineering, "
                 "compute/accelerator: 19.5 TFLOP/s fp32, 1555 GB/s; efficiencies and launch overhead are assumptions"},
      {.name = "a100-sxm4-80",
       .description = "NVIDIA A100 SXM4 80 GB, fp32 without tensor cores",
       .peak_flops = 19.5e12,
       .memory_bandwidth = 2039e9,
       .matrix_efficiency = 0.8,
       .memory_efficiency = 0.85,
       .launch_overhead = 5e-6,
       .source = "NVIDIA A100 data sheet (2021), as tabulated in S. Bekman, Machine Learning Engineering, "
                 "compute/accelerator: 19.5 TFLOP/s fp32, 2039 GB/s; efficiencies and launch overhead are assumptions"},
  };
}

}  // namespace dadsim::devices
