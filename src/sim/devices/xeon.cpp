#include "sim/devices/families.hpp"

namespace dadsim::devices {

std::vector<DeviceSpec> xeon() {
  return {
      {.name = "xeon-8380",
       .description = "Intel Xeon Platinum 8380, 40 cores at 2.3 GHz, fp32 with AVX-512",
       .peak_flops = 5.9e12,
       .memory_bandwidth = 204.8e9,
       .matrix_efficiency = 0.7,
       .memory_efficiency = 0.8,
       .launch_overhead = 1e-6,
       .source = "Intel ARK, Xeon Platinum 8380 (2021), unverified: 40 cores x 2.3 GHz x 64 flop per cycle (two "
                 "AVX-512 FMA units) = 5.9 TFLOP/s fp32, 8 channels of DDR4-3200 = 204.8 GB/s; clocks under AVX-512 "
                 "load are not counted; efficiencies and launch overhead are assumptions"},
  };
}

}  // namespace dadsim::devices
