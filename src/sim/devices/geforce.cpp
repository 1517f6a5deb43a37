#include "sim/devices/families.hpp"

namespace dadsim::devices {

std::vector<DeviceSpec> geforce() {
  return {
      {.name = "rtx-3090",
       .description = "NVIDIA GeForce RTX 3090, fp32 without tensor cores",
       .peak_flops = 35.6e12,
       .memory_bandwidth = 936e9,
       .matrix_efficiency = 0.6,
       .memory_efficiency = 0.85,
       .launch_overhead = 5e-6,
       .source = "NVIDIA Ampere GA102 architecture white paper (2020): 35.6 TFLOP/s fp32, 936 GB/s; efficiencies and "
                 "launch overhead are assumptions"},
      {.name = "rtx-4090",
       .description = "NVIDIA GeForce RTX 4090, fp32 without tensor cores",
       .peak_flops = 82.6e12,
       .memory_bandwidth = 1008e9,
       .matrix_efficiency = 0.6,
       .memory_efficiency = 0.85,
       .launch_overhead = 5e-6,
       .source = "NVIDIA Ada GPU architecture white paper (2022): 82.6 TFLOP/s fp32, 1008 GB/s; efficiencies and "
                 "launch overhead are assumptions"},
  };
}

}  // namespace dadsim::devices
