#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

std::vector<spec::DeviceSpec> volta() {
  return {
      of_class(kDataCentreGpu,
               {
                   .name = "v100-sxm2",
                   .description = "NVIDIA V100 SXM2 16 GB",
                   .peak_flops = 15.7 * kTera,
                   .memory_bandwidth = 900 * kGiga,
                   .source = "NVIDIA V100 data sheet (2020) as tabulated in llm-analysis, gpu_configs (2023): fp16, "
                             "memory; fp32 unverified",
                   .fp16_flops = 125 * kTera,
                   .memory_bytes = 16 * kGib,
                   .power = 300,
                   .efficiencies = {calibrated(spec::LayerKind::convolution, spec::Precision::fp32, 0.551, kDlperf),
                                    calibrated(spec::LayerKind::dense, spec::Precision::fp32, 0.716, kDlperfBert),
                                    calibrated(spec::LayerKind::dense, spec::Precision::fp16, 0.371, kDlperfAmp),
                                    calibrated(spec::LayerKind::attention, spec::Precision::fp16, 0.300, kDlperfAmp),
                                    calibrated(spec::LayerKind::convolution, spec::Precision::fp16, 0.371,
                                               mlperf("v0.7, DGX-1"))},
               }),
      of_class(kDataCentreGpu,
               {
                   .name = "v100-sxm2-32",
                   .description = "NVIDIA V100 SXM2 32 GB",
                   .peak_flops = 15.7 * kTera,
                   .memory_bandwidth = 900 * kGiga,
                   .source = "NVIDIA V100 data sheet (2020) as tabulated in llm-analysis, gpu_configs (2023): fp16, "
                             "memory; fp32 unverified",
                   .fp16_flops = 125 * kTera,
                   .memory_bytes = 32 * kGib,
                   .power = 300,
                   .efficiencies = {calibrated(spec::LayerKind::convolution, spec::Precision::fp32, 0.551, kDlperf),
                                    calibrated(spec::LayerKind::dense, spec::Precision::fp32, 0.716, kDlperfBert),
                                    calibrated(spec::LayerKind::dense, spec::Precision::fp16, 0.371, kDlperfAmp),
                                    calibrated(spec::LayerKind::attention, spec::Precision::fp16, 0.300, kDlperfAmp),
                                    calibrated(spec::LayerKind::convolution, spec::Precision::fp16, 0.371,
                                               mlperf("v0.7, DGX-1"))},
               }),
      of_class(kDataCentreGpu,
               {
                   .name = "v100-sxm3-32",
                   .description = "NVIDIA V100 SXM3 32 GB at 450 W, of a DGX-2H",
                   .peak_flops = 16.4 * kTera,
                   .memory_bandwidth = 900 * kGiga,
                   .source = "NVIDIA DGX-2H data sheet (2018): 2.1 PFLOP/s of 16 GPUs, unverified; power by the name "
                             "of the system in MLPerf Training v0.7",
                   .fp16_flops = 131 * kTera,
                   .memory_bytes = 32 * kGib,
                   .power = 450,
                   .efficiencies = {calibrated(spec::LayerKind::convolution, spec::Precision::fp16, 0.43,
                                               mlperf("v0.7, DGX-2H"))},
               }),
      of_class(kDataCentreGpu,
               {
                   .name = "v100-pcie",
                   .description = "NVIDIA V100 PCIe 16 GB",
                   .peak_flops = 14 * kTera,
                   .memory_bandwidth = 900 * kGiga,
                   .source = "NVIDIA V100 data sheet (2020) as tabulated in llm-analysis, gpu_configs (2023): fp16, "
                             "memory; fp32 14 TFLOP/s",
                   .fp16_flops = 112 * kTera,
                   .memory_bytes = 16 * kGib,
                   .power = 250,
               }),
      of_class(kDataCentreGpu,
               {
                   .name = "v100-pcie-32",
                   .description = "NVIDIA V100 PCIe 32 GB",
                   .peak_flops = 14 * kTera,
                   .memory_bandwidth = 900 * kGiga,
                   .source = "NVIDIA V100 data sheet (2020) as tabulated in llm-analysis, gpu_configs (2023): fp16, "
                             "memory; fp32 14 TFLOP/s",
                   .fp16_flops = 112 * kTera,
                   .memory_bytes = 32 * kGib,
                   .power = 250,
               }),
      of_class(kDataCentreGpu,
               {
                   .name = "v100s-pcie-32",
                   .description = "NVIDIA V100S PCIe 32 GB",
                   .peak_flops = 16.4 * kTera,
                   .memory_bandwidth = 1134 * kGiga,
                   .source = "NVIDIA V100 data sheet (2020), unverified",
                   .fp16_flops = 130 * kTera,
                   .memory_bytes = 32 * kGib,
                   .power = 250,
                   .efficiencies = {calibrated(spec::LayerKind::convolution, spec::Precision::fp16, 0.321,
                                               mlperf("v0.7, Dell DSS 8440"))},
               }),
  };
}

}  // namespace dadsim::sim::devices
