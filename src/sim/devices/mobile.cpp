#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

/// Memory is shared with everything else on the device: how much a training may have is not known. Power is what a
/// device without a fan can keep up.
std::vector<spec::DeviceSpec> mobile() {
  return {
      of_class(kMobileGpu,
               {
                   .name = "snapdragon-865",
                   .description = "Qualcomm Snapdragon 865, Adreno 650",
                   .peak_flops = 1.2 * kTera,
                   .memory_bandwidth = 44 * kGiga,
                   .source = "Qualcomm Snapdragon 865 (2019), unverified",
                   .fp16_flops = 2.4 * kTera,
                   .power = 6,
               }),
      of_class(kMobileGpu,
               {
                   .name = "snapdragon-8-gen-2",
                   .description = "Qualcomm Snapdragon 8 Gen 2, Adreno 740",
                   .peak_flops = 3.5 * kTera,
                   .memory_bandwidth = 67 * kGiga,
                   .source = "Qualcomm Snapdragon 8 Gen 2 (2022), unverified",
                   .fp16_flops = 7 * kTera,
                   .power = 8,
               }),
      of_class(kMobileGpu,
               {
                   .name = "apple-a16",
                   .description = "Apple A16, its GPU",
                   .peak_flops = 1.8 * kTera,
                   .memory_bandwidth = 51 * kGiga,
                   .source = "Apple A16 (2022), unverified",
                   .power = 5,
               }),
      of_class(kMobileGpu,
               {
                   .name = "apple-m2",
                   .description = "Apple M2, its GPU of 10 cores",
                   .peak_flops = 3.6 * kTera,
                   .memory_bandwidth = 100 * kGiga,
                   .source = "Apple M2 (2022), unverified",
                   .power = 20,
               }),
  };
}

}  // namespace dadsim::sim::devices
