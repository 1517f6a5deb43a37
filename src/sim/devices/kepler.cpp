#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

std::vector<spec::DeviceSpec> kepler() {
  return {
      of_class(kDataCentreGpu,
               {
                   .name = "k80",
                   .description = "NVIDIA Tesla K80, one of its two GK210 at boost clock",
                   .peak_flops = 4.4 * kTera,
                   .memory_bandwidth = 240 * kGiga,
                   .source = "NVIDIA Tesla K80 board specification (2015), unverified",
                   .memory_bytes = 12 * kGib,
                   .power = 150,
                   .efficiencies = {calibrated(spec::LayerKind::convolution, spec::Precision::fp32, 0.2425,
                                               kTensorFlow2017)},
               }),
  };
}

}  // namespace dadsim::sim::devices
