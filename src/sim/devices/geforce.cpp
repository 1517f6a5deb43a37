#include "sim/devices/device_class.hpp"
#include "sim/devices/families.hpp"

namespace dadsim::sim::devices {

/// Rates of tensor cores with sums in fp32, which consumer boards halve.
std::vector<spec::DeviceSpec> geforce() {
  return {
      of_class(kConsumerGpu,
               {
                   .name = "titan-x-maxwell",
                   .description = "NVIDIA GeForce GTX Titan X (Maxwell)",
                   .peak_flops = 6.6 * kTera,
                   .memory_bandwidth = 336 * kGiga,
                   .source = "NVIDIA GeForce GTX Titan X specification (2015), unverified",
                   .memory_bytes = 12 * kGib,
                   .power = 250,
                   .generation = spec::GpuGeneration::volta,
               }),
      of_class(kConsumerGpu,
               {
                   .name = "gtx-1080-ti",
                   .description = "NVIDIA GeForce GTX 1080 Ti",
                   .peak_flops = 11.3 * kTera,
                   .memory_bandwidth = 484 * kGiga,
                   .source = "NVIDIA GeForce GTX 1080 Ti specification (2017), unverified",
                   .memory_bytes = 11 * kGib,
                   .power = 250,
                   .generation = spec::GpuGeneration::volta,
               }),
      of_class(kConsumerGpu,
               {
                   .name = "rtx-2080-ti",
                   .description = "NVIDIA GeForce RTX 2080 Ti",
                   .peak_flops = 13.4 * kTera,
                   .memory_bandwidth = 616 * kGiga,
                   .source = "NVIDIA Turing architecture white paper (2018), unverified",
                   .fp16_flops = 53.8 * kTera,
                   .memory_bytes = 11 * kGib,
                   .power = 250,
                   .generation = spec::GpuGeneration::volta,
               }),
      of_class(
          kConsumerGpu,
          {
              .name = "rtx-3090",
              .description = "NVIDIA GeForce RTX 3090",
              .peak_flops = 35.6 * kTera,
              .memory_bandwidth = 936 * kGiga,
              .source = "NVIDIA Ampere GA102 architecture white paper (2020): fp32, memory and power; tensor "
                        "cores unverified",
              .tf32_flops = 35.6 * kTera,
              .fp16_flops = 71 * kTera,
              .bf16_flops = 71 * kTera,
              .memory_bytes = 24 * kGib,
              .power = 350,
              .efficiencies = {calibrated(spec::LayerKind::convolution, spec::Precision::fp16, 0.563,
                                          kTimm + "ResNet-50, ResNet-101 and ResNet-152"),
                               calibrated(spec::LayerKind::dense, spec::Precision::fp16, 0.602, kTimm + "ViT-B/16")},
              .generation = spec::GpuGeneration::ampere,
          }),
      of_class(kConsumerGpu,
               {
                   .name = "rtx-4090",
                   .description = "NVIDIA GeForce RTX 4090",
                   .peak_flops = 82.6 * kTera,
                   .memory_bandwidth = 1008 * kGiga,
                   .source = "NVIDIA Ada GPU architecture white paper (2022)",
                   .tf32_flops = 82.6 * kTera,
                   .fp16_flops = 165.2 * kTera,
                   .bf16_flops = 165.2 * kTera,
                   .memory_bytes = 24 * kGib,
                   .power = 450,
                   .fp8_flops = 330 * kTera,
                   .generation = spec::GpuGeneration::ampere,
               }),
      of_class(kConsumerGpu,
               {
                   .name = "rtx-5090",
                   .description = "NVIDIA GeForce RTX 5090",
                   .peak_flops = 104.8 * kTera,
                   .memory_bandwidth = 1792 * kGiga,
                   .source = "NVIDIA RTX Blackwell architecture white paper (2025), unverified",
                   .tf32_flops = 104.8 * kTera,
                   .fp16_flops = 209.5 * kTera,
                   .bf16_flops = 209.5 * kTera,
                   .memory_bytes = 32 * kGib,
                   .power = 575,
                   .fp8_flops = 419 * kTera,
                   .generation = spec::GpuGeneration::blackwell,
               }),
  };
}

}  // namespace dadsim::sim::devices
