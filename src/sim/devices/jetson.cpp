#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

/// Memory and power are of the whole module, which the processor shares.
std::vector<spec::DeviceSpec> jetson() {
  return {
      of_class(kMobileGpu,
               {
                   .name = "jetson-nano",
                   .description = "NVIDIA Jetson Nano",
                   .peak_flops = 0.24 * kTera,
                   .memory_bandwidth = 25.6 * kGiga,
                   .source = "NVIDIA Jetson Nano data sheet (2019), unverified",
                   .fp16_flops = 0.47 * kTera,
                   .memory_bytes = 4 * kGib,
                   .power = 10,
               }),
      of_class(kMobileGpu,
               {
                   .name = "jetson-tx2",
                   .description = "NVIDIA Jetson TX2",
                   .peak_flops = 0.67 * kTera,
                   .memory_bandwidth = 59.7 * kGiga,
                   .source = "NVIDIA Jetson TX2 data sheet (2017), unverified",
                   .fp16_flops = 1.33 * kTera,
                   .memory_bytes = 8 * kGib,
                   .power = 15,
               }),
      of_class(kMobileGpu,
               {
                   .name = "jetson-xavier-nx",
                   .description = "NVIDIA Jetson Xavier NX",
                   .peak_flops = 0.84 * kTera,
                   .memory_bandwidth = 51.2 * kGiga,
                   .source = "NVIDIA Jetson Xavier NX data sheet (2019), unverified; fp16 of its tensor cores",
                   .fp16_flops = 6 * kTera,
                   .memory_bytes = 8 * kGib,
                   .power = 15,
               }),
      of_class(kMobileGpu,
               {
                   .name = "jetson-agx-orin-64",
                   .description = "NVIDIA Jetson AGX Orin 64 GB",
                   .peak_flops = 5.3 * kTera,
                   .memory_bandwidth = 204.8 * kGiga,
                   .source = "NVIDIA Jetson AGX Orin data sheet (2022), unverified; fp16 of its tensor cores",
                   .fp16_flops = 42 * kTera,
                   .memory_bytes = 64 * kGib,
                   .power = 60,
               }),
  };
}

}  // namespace dadsim::sim::devices
