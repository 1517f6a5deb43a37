#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

std::vector<spec::DeviceSpec> ada() {
  return {
      of_class(kDataCentreGpu,
               {
                   .name = "l40s",
                   .description = "NVIDIA L40S",
                   .peak_flops = 91.6 * kTera,
                   .memory_bandwidth = 864 * kGiga,
                   .source = "NVIDIA L40S data sheet (2023), as tabulated in " + kBekman,
                   .tf32_flops = 183 * kTera,
                   .fp16_flops = 362 * kTera,
                   .bf16_flops = 362 * kTera,
                   .memory_bytes = 48 * kGib,
                   .power = 350,
                   .fp8_flops = 733 * kTera,
               }),
  };
}

}  // namespace dadsim::sim::devices
