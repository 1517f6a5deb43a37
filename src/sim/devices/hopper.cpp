#include "sim/devices/families.hpp"

namespace dadsim::devices {

std::vector<DeviceSpec> hopper() {
  return {
      {.name = "h100-sxm5",
       .description = "NVIDIA H100 SXM5 80 GB, fp32 without tensor cores",
       .peak_flops = 67e12,
       .memory_bandwidth = 3350e9,
       .matrix_efficiency = 0.8,
       .memory_efficiency = 0.85,
       .launch_overhead = 5e-6,
       .source = "NVIDIA H100 data sheet (2023), as tabulated in S. Bekman, Machine Learning Engineering, "
                 "compute/accelerator: 67 TFLOP/s fp32, 3350 GB/s; efficiencies and launch overhead are assumptions"},
  };
}

}  // namespace dadsim::devices
