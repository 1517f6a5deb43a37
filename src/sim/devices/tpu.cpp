#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

/// bf16 alone: a TPU has no other products.
std::vector<spec::DeviceSpec> tpu() {
  return {
      of_class(kAccelerator,
               {
                   .name = "tpu-v4",
                   .description = "Google TPU v4, one chip",
                   .memory_bandwidth = 1200 * kGiga,
                   .source = "Google Cloud TPU documentation, as tabulated in " + kBekman,
                   .bf16_flops = 275 * kTera,
                   .memory_bytes = 32 * kGib,
               }),
      of_class(kAccelerator,
               {
                   .name = "tpu-v5e",
                   .description = "Google TPU v5e, one chip",
                   .memory_bandwidth = 820 * kGiga,
                   .source = "Google Cloud TPU documentation, as tabulated in " + kBekman,
                   .bf16_flops = 197 * kTera,
                   .memory_bytes = 16 * kGib,
               }),
      of_class(kAccelerator,
               {
                   .name = "tpu-v5p",
                   .description = "Google TPU v5p, one chip",
                   .memory_bandwidth = 2760 * kGiga,
                   .source = "Google Cloud TPU documentation, as tabulated in " + kBekman,
                   .bf16_flops = 459 * kTera,
                   .memory_bytes = 95 * kGib,
               }),
      of_class(kAccelerator,
               {
                   .name = "tpu-v6e",
                   .description = "Google TPU v6e (Trillium), one chip",
                   .memory_bandwidth = 1640 * kGiga,
                   .source = "Google Cloud TPU documentation, as tabulated in " + kBekman + "; memory unverified",
                   .bf16_flops = 918 * kTera,
                   .memory_bytes = 32 * kGib,
               }),
  };
}

}  // namespace dadsim::sim::devices
