#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

std::vector<spec::DeviceSpec> instinct() {
  return {
      of_class(kAccelerator,
               {
                   .name = "mi250x",
                   .description = "AMD Instinct MI250X, both dies",
                   .peak_flops = 47.9 * kTera,
                   .memory_bandwidth = 3280 * kGiga,
                   .source = "AMD MI250X data sheet (2021), as tabulated in " + kBekman + "; power unverified",
                   .fp16_flops = 383 * kTera,
                   .bf16_flops = 383 * kTera,
                   .memory_bytes = 128 * kGib,
                   .power = 560,
               }),
      of_class(kAccelerator,
               {
                   .name = "mi300x",
                   .description = "AMD Instinct MI300X",
                   .peak_flops = 163.4 * kTera,
                   .memory_bandwidth = 5300 * kGiga,
                   .source = "AMD MI300X data sheet (2023), as tabulated in " + kBekman + "; power unverified",
                   .tf32_flops = 653.7 * kTera,
                   .fp16_flops = 1300 * kTera,
                   .bf16_flops = 1300 * kTera,
                   .memory_bytes = 192 * kGib,
                   .power = 750,
                   .efficiencies = {best_product(668.4, 1300 * kTera)},
                   .fp8_flops = 2610 * kTera,
               }),
      of_class(kAccelerator,
               {
                   .name = "mi325x",
                   .description = "AMD Instinct MI325X",
                   .peak_flops = 163.4 * kTera,
                   .memory_bandwidth = 6000 * kGiga,
                   .source = "AMD MI325X data sheet (2024), as tabulated in " + kBekman + "; power unverified",
                   .tf32_flops = 653.7 * kTera,
                   .fp16_flops = 1300 * kTera,
                   .bf16_flops = 1300 * kTera,
                   .memory_bytes = 256 * kGib,
                   .power = 1000,
                   .efficiencies = {best_product(784.9, 1300 * kTera)},
                   .fp8_flops = 2610 * kTera,
               }),
      of_class(kAccelerator,
               {
                   .name = "mi355x",
                   .description = "AMD Instinct MI355X",
                   .peak_flops = 157.3 * kTera,
                   .memory_bandwidth = 8000 * kGiga,
                   .source = "AMD MI355X data sheet (2025), as tabulated in " + kBekman + "; power unverified",
                   .fp16_flops = 2500 * kTera,
                   .bf16_flops = 2500 * kTera,
                   .memory_bytes = 288 * kGib,
                   .power = 1400,
                   .efficiencies = {best_product(1565, 2500 * kTera)},
                   .fp8_flops = 5000 * kTera,
               }),
  };
}

}  // namespace dadsim::sim::devices
