#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

std::vector<spec::DeviceSpec> pascal() {
  return {
      of_class(
          kDataCentreGpu,
          {
              .name = "p100-sxm2",
              .description = "NVIDIA Tesla P100 SXM2 16 GB, without tensor cores",
              .peak_flops = 10.6 * kTera,
              .memory_bandwidth = 732 * kGiga,
              .source = "NVIDIA Tesla P100 white paper (2016), unverified",
              .fp16_flops = 21.2 * kTera,
              .memory_bytes = 16 * kGib,
              .power = 300,
              .efficiencies = {calibrated(spec::LayerKind::convolution, spec::Precision::fp32, 0.457, kTensorFlow2017)},
          }),
  };
}

}  // namespace dadsim::sim::devices
