#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

std::vector<spec::DeviceSpec> hopper() {
  return {
      of_class(kDataCentreGpu,
               {
                   .name = "h100-sxm5",
                   .description = "NVIDIA H100 SXM5 80 GB",
                   .peak_flops = 67 * kTera,
                   .memory_bandwidth = 3350 * kGiga,
                   .source = "NVIDIA H100 data sheet (2023), as tabulated in " + kBekman,
                   .tf32_flops = 494.5 * kTera,
                   .fp16_flops = 989 * kTera,
                   .bf16_flops = 989 * kTera,
                   .memory_bytes = 80 * kGib,
                   .power = 700,
                   .efficiencies = {best_product(1402.6, 1979 * kTera, spec::Precision::fp8),
                                    calibrated(spec::LayerKind::dense, spec::Precision::bf16, 0.453, kMpt),
                                    calibrated(spec::LayerKind::attention, spec::Precision::bf16, 0.215, kMpt)},
                   .fp8_flops = 1979 * kTera,
               }),
      of_class(kDataCentreGpu,
               {
                   .name = "h100-pcie",
                   .description = "NVIDIA H100 PCIe 80 GB",
                   .peak_flops = 51 * kTera,
                   .memory_bandwidth = 2000 * kGiga,
                   .source = "NVIDIA H100 data sheet (2023), as tabulated in " + kBekman + "; power unverified",
                   .tf32_flops = 378 * kTera,
                   .fp16_flops = 756 * kTera,
                   .bf16_flops = 756 * kTera,
                   .memory_bytes = 80 * kGib,
                   .power = 350,
                   .fp8_flops = 1513 * kTera,
               }),
      of_class(kDataCentreGpu,
               {
                   .name = "h200-sxm",
                   .description = "NVIDIA H200 SXM 141 GB",
                   .peak_flops = 67 * kTera,
                   .memory_bandwidth = 4800 * kGiga,
                   .source = "NVIDIA H200 data sheet (2023), as tabulated in " + kBekman + "; power unverified",
                   .tf32_flops = 494.5 * kTera,
                   .fp16_flops = 989 * kTera,
                   .bf16_flops = 989 * kTera,
                   .memory_bytes = 141 * kGib,
                   .power = 700,
                   .efficiencies = {best_product(1453.4, 1979 * kTera, spec::Precision::fp8),
                                    best_product(794.5, 989 * kTera)},
                   .fp8_flops = 1979 * kTera,
               }),
      of_class(kDataCentreGpu,
               {
                   .name = "gh200-96",
                   .description = "NVIDIA GH200 with 96 GB of HBM3",
                   .peak_flops = 67 * kTera,
                   .memory_bandwidth = 4000 * kGiga,
                   .source = "NVIDIA GH200 data sheet (2023), as tabulated in " + kBekman +
                             "; power of the whole module, unverified",
                   .tf32_flops = 494.5 * kTera,
                   .fp16_flops = 989 * kTera,
                   .bf16_flops = 989 * kTera,
                   .memory_bytes = 96 * kGib,
                   .power = 1000,
                   .efficiencies = {best_product(828.6, 989 * kTera)},
                   .fp8_flops = 1979 * kTera,
               }),
      of_class(kDataCentreGpu,
               {
                   .name = "gh200-141",
                   .description = "NVIDIA GH200 with 141 GB of HBM3e",
                   .peak_flops = 67 * kTera,
                   .memory_bandwidth = 4800 * kGiga,
                   .source = "NVIDIA GH200 data sheet (2023), as tabulated in " + kBekman +
                             "; power of the whole module, unverified",
                   .tf32_flops = 494.5 * kTera,
                   .fp16_flops = 989 * kTera,
                   .bf16_flops = 989 * kTera,
                   .memory_bytes = 141 * kGib,
                   .power = 1000,
                   .efficiencies = {best_product(828.6, 989 * kTera)},
                   .fp8_flops = 1979 * kTera,
               }),
  };
}

}  // namespace dadsim::sim::devices
