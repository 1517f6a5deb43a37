#include "sim/devices/families.hpp"

namespace dadsim::devices {

std::vector<DeviceSpec> volta() {
  return {
      {.name = "v100-sxm2",
       .description = "NVIDIA Tesla V100 SXM2, fp32 without tensor cores",
       .peak_flops = 15.7e12,
       .memory_bandwidth = 900e9,
       .matrix_efficiency = 0.8,
       .memory_efficiency = 0.85,
       .launch_overhead = 5e-6,
       .source = "NVIDIA Tesla V100 data sheet (2018): 15.7 TFLOP/s fp32 (unverified), 900 GB/s; efficiencies and "
                 "launch overhead are assumptions"},
  };
}

}  // namespace dadsim::devices
