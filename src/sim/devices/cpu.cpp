#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

/// Peaks count nominal clocks, not those under vector load. Memory is what the server was bought with.
std::vector<spec::DeviceSpec> cpu() {
  return {
      of_class(kCpu,
               {
                   .name = "xeon-8380",
                   .description = "Intel Xeon Platinum 8380, 40 cores at 2.3 GHz",
                   .peak_flops = 5.9 * kTera,
                   .memory_bandwidth = 204.8 * kGiga,
                   .source = "Intel ARK, Xeon Platinum 8380 (2021), unverified: 40 cores x 2.3 GHz x 64 flop per "
                             "cycle, 8 channels of DDR4-3200",
                   .power = 270,
               }),
      of_class(kCpu,
               {
                   .name = "xeon-8480",
                   .description = "Intel Xeon Platinum 8480+, 56 cores at 2.0 GHz",
                   .peak_flops = 7.2 * kTera,
                   .memory_bandwidth = 307.2 * kGiga,
                   .source = "Intel ARK, Xeon Platinum 8480+ (2023), unverified: 56 cores x 2.0 GHz x 64 flop per "
                             "cycle, bf16 by AMX, 8 channels of DDR5-4800",
                   .bf16_flops = 200 * kTera,
                   .power = 350,
               }),
      of_class(
          kCpu,
          {
              .name = "epyc-7763",
              .description = "AMD EPYC 7763, 64 cores at 2.45 GHz",
              .peak_flops = 5 * kTera,
              .memory_bandwidth = 204.8 * kGiga,
              .source =
                  "AMD EPYC 7763 (2021), unverified: 64 cores x 2.45 GHz x 32 flop per cycle, 8 channels of DDR4-3200",
              .power = 280,
          }),
      of_class(
          kCpu,
          {
              .name = "epyc-9654",
              .description = "AMD EPYC 9654, 96 cores at 2.4 GHz",
              .peak_flops = 7.4 * kTera,
              .memory_bandwidth = 460.8 * kGiga,
              .source =
                  "AMD EPYC 9654 (2022), unverified: 96 cores x 2.4 GHz x 32 flop per cycle, 12 channels of DDR5-4800",
              .power = 360,
          }),
  };
}

}  // namespace dadsim::sim::devices
