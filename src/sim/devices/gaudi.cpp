#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

/// bf16 alone: rates of other products are not in the table.
std::vector<spec::DeviceSpec> gaudi() {
  return {
      of_class(kAccelerator,
               {
                   .name = "gaudi-2",
                   .description = "Intel Gaudi 2",
                   .memory_bandwidth = 2460 * kGiga,
                   .source = "Intel Gaudi 2 white paper (2022), as tabulated in " + kBekman + "; power unverified",
                   .bf16_flops = 432 * kTera,
                   .memory_bytes = 96 * kGib,
                   .power = 600,
                   .efficiencies = {best_product(418.7, 432 * kTera)},
                   .fp8_flops = 865 * kTera,
               }),
      of_class(kAccelerator,
               {
                   .name = "gaudi-3",
                   .description = "Intel Gaudi 3",
                   .memory_bandwidth = 3700 * kGiga,
                   .source = "Intel Gaudi 3 white paper (2024), as tabulated in " + kBekman + "; power unverified",
                   .bf16_flops = 1677 * kTera,
                   .memory_bytes = 128 * kGib,
                   .power = 900,
                   .fp8_flops = 1677 * kTera,
               }),
  };
}

}  // namespace dadsim::sim::devices
