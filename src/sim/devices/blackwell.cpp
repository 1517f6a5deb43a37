#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

std::vector<spec::DeviceSpec> blackwell() {
  return {
      of_class(kDataCentreGpu,
               {
                   .name = "b200-sxm",
                   .description = "NVIDIA B200 SXM 180 GB",
                   .peak_flops = 80 * kTera,
                   .memory_bandwidth = 8000 * kGiga,
                   .source = "NVIDIA B200 data sheet (2024), as tabulated in " + kBekman + "; power unverified",
                   .tf32_flops = 1125 * kTera,
                   .fp16_flops = 2250 * kTera,
                   .bf16_flops = 2250 * kTera,
                   .memory_bytes = 180 * kGib,
                   .power = 1000,
                   .efficiencies = {best_product(3432.5, 4500 * kTera, spec::Precision::fp8),
                                    best_product(1745, 2250 * kTera)},
                   .fp8_flops = 4500 * kTera,
               }),
      of_class(kDataCentreGpu,
               {
                   .name = "gb200",
                   .description = "NVIDIA GB200, one of its GPUs",
                   .peak_flops = 80 * kTera,
                   .memory_bandwidth = 8000 * kGiga,
                   .source = "NVIDIA GB200 data sheet (2024), as tabulated in " + kBekman + "; power unverified",
                   .tf32_flops = 1250 * kTera,
                   .fp16_flops = 2500 * kTera,
                   .bf16_flops = 2500 * kTera,
                   .memory_bytes = 186 * kGib,
                   .power = 1200,
                   .efficiencies = {best_product(1822, 2500 * kTera)},
                   .fp8_flops = 5000 * kTera,
               }),
      of_class(kDataCentreGpu,
               {
                   .name = "b300",
                   .description = "NVIDIA B300",
                   .peak_flops = 80 * kTera,
                   .memory_bandwidth = 8000 * kGiga,
                   .source = "NVIDIA B300 data sheet (2025), as tabulated in " + kBekman + "; power unverified",
                   .tf32_flops = 1125 * kTera,
                   .fp16_flops = 2250 * kTera,
                   .bf16_flops = 2250 * kTera,
                   .memory_bytes = 288 * kGib,
                   .power = 1400,
                   .efficiencies = {best_product(1769, 2250 * kTera)},
                   .fp8_flops = 4500 * kTera,
               }),
  };
}

}  // namespace dadsim::sim::devices
