#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

std::vector<spec::DeviceSpec> turing() {
  return {
      of_class(kDataCentreGpu,
               {
                   .name = "t4",
                   .description = "NVIDIA T4",
                   .peak_flops = 8.14 * kTera,
                   .memory_bandwidth = 320 * kGiga,
                   .source = "NVIDIA T4 data sheet (2019) as tabulated in public hardware tables (2023)",
                   .fp16_flops = 65.1 * kTera,
                   .memory_bytes = 16 * kGib,
                   .power = 70,
               }),
  };
}

}  // namespace dadsim::sim::devices
