#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "spec/device_specification.hpp"

// What a data sheet does not say is assumed, alike for a whole class of devices and never per workload. Efficiencies
// that were measured or calibrated stand in the entries of the devices, with their source.

namespace dadsim::sim::devices {

inline constexpr double kTera = 1e12;
inline constexpr double kGiga = 1e9;
inline constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

/// The assumptions of a class of devices.
struct DeviceClass {
  double matrix_efficiency;
  double dense_fp32;  ///< share of the fp32 peak that dense layers reach on the ordinary units
  double memory_efficiency;
  double launch_overhead;  ///< seconds
  double ramp_seconds;
  double tile_rows;
  double winograd_share;
};

/// 3×3 convolutions by minimal filtering F(2×2, 3×3) take 16 multiplications where there are 36 (Lavin and Gray, Fast
/// Algorithms for Convolutional Neural Networks, CVPR 2016); cuDNN has it for fp32 since version 5 (2016).
inline constexpr double kMinimalFiltering = 16.0 / 36.0;

/// Matrix 0.45: the median of what whole trainings reach on the devices that are calibrated end to end (0.24 to 0.78,
/// docs/devices.md), for what nobody measured; long products alone reach 0.8 and more. Dense layers in fp32: 0.72, as a
/// V100 where it is calibrated. Memory 0.85: what streaming
/// copies reach (assumed). Launch 5 µs, ramp 10 µs, tiles of 64 rows (assumed).
inline constexpr DeviceClass kDataCentreGpu{0.45, 0.72, 0.85, 5e-6, 10e-6, 64, kMinimalFiltering};
/// Accelerators of other vendors: the same but for tiles of 128 rows and libraries not assumed to filter minimally.
inline constexpr DeviceClass kAccelerator{0.45, 0.72, 0.85, 5e-6, 10e-6, 128, 1};
/// Matrix 0.6: the two halves of the fp32 units of Ampere and later share issue slots with integer work (assumed).
inline constexpr DeviceClass kConsumerGpu{0.6, 0.6, 0.85, 5e-6, 10e-6, 64, kMinimalFiltering};
/// GPUs of boards and phones (assumed).
inline constexpr DeviceClass kMobileGpu{0.5, 0.5, 0.7, 20e-6, 20e-6, 16, 1};
/// Launch: a parallel region (assumed).
inline constexpr DeviceClass kCpu{0.7, 0.7, 0.8, 1e-6, 2e-6, 8, 1};

/// The device with the assumptions of its class.
inline spec::DeviceSpec of_class(const DeviceClass& assumed, spec::DeviceSpec device) {
  device.matrix_efficiency = assumed.matrix_efficiency;
  device.memory_efficiency = assumed.memory_efficiency;
  device.launch_overhead = assumed.launch_overhead;
  device.ramp_seconds = assumed.ramp_seconds;
  device.tile_rows = assumed.tile_rows;
  device.winograd_share = assumed.winograd_share;
  const auto known = [](const spec::KindEfficiency& one) {
    return one.kind == spec::LayerKind::dense && one.precision == spec::Precision::fp32;
  };
  if (device.peak_flops > 0 && assumed.dense_fp32 != assumed.matrix_efficiency &&
      std::ranges::none_of(device.efficiencies, known)) {
    device.efficiencies.push_back(
        {spec::LayerKind::dense, spec::Precision::fp32, assumed.dense_fp32, "assumed to be as on a V100"});
  }
  device.source += "; other efficiencies and the cost of a kernel are assumptions of its class";
  return device;
}

/// Of the largest product that S. Bekman measured, whole trainings reach 0.56 (H100) and 0.88 (A100) where they are
/// calibrated: the middle of that (geometric), where nobody measured one.
inline constexpr double kTrainingOfBestProduct = 0.70;

/// Measured by S. Bekman: the largest share of the peak that any shape of product reached, `tflops`; what training is
/// taken to reach of it.
inline spec::KindEfficiency best_product(double tflops, double peak,
                                         spec::Precision precision = spec::Precision::bf16) {
  return {spec::LayerKind::dense, precision, kTrainingOfBestProduct * tflops * kTera / peak,
          "0.7 (assumed) of the largest product of any shape, S. Bekman, Machine Learning Engineering, "
          "compute/accelerator, maximum achievable matmul FLOPS (2025)"};
}

/// Fitted so that the rates of training of `source` come out (docs/devices.md).
inline spec::KindEfficiency calibrated(spec::LayerKind kind, spec::Precision precision, double share,
                                       std::string source) {
  return {kind, precision, share, std::move(source)};
}

inline const std::string kDlperf =
    "DLPerf (github.com/Oneflow-Inc/DLPerf, 2020), OneFlow 0.2.0 on one GPU: ResNet-50 v1.5, 128 images";
inline const std::string kDlperfBert =
    "DLPerf (github.com/Oneflow-Inc/DLPerf, 2020), OneFlow 0.2.0 on one GPU: BERT-base, 32 and 96 sentences";
inline const std::string kDlperfAmp =
    "DLPerf (github.com/Oneflow-Inc/DLPerf, 2020-2021), OneFlow on one GPU: BERT-base, 64 sentences, and two sizes of "
    "GPT";
inline const std::string kMpt =
    "llm-foundry (github.com/mosaicml/llm-foundry, scripts/train/benchmarking) on one node of eight: MPT-125M, "
    "MPT-350M, MPT-1B, MPT-3B, MPT-7B, MPT-13B";
inline const std::string kMegatron =
    "Korthikanti et al., arXiv:2205.05198, table 5, on one node of eight: Megatron-22B";
inline const std::string kBertLarge =
    "NVIDIA DeepLearningExamples, BERT-large pre-training on one GPU, between 128 and 512 tokens";
inline const std::string kTensorFlow2017 =
    "TensorFlow benchmarks (tensorflow.org/guide/performance/benchmarks, May 2017) on one GPU: ResNet-50 and "
    "ResNet-152";
inline const std::string kTimm =
    "timm (github.com/huggingface/pytorch-image-models, results/benchmark-train-amp-nhwc-pt112-cu113-rtx3090.csv, "
    "2022): ";
/// A single node, its gradients summed inside it.
inline std::string mlperf(const std::string& system) {
  return "MLPerf Training, ResNet-50, " + system + ", samples per second of the log ÷ GPUs";
}

inline const std::string kBekman = "S. Bekman, Machine Learning Engineering, compute/accelerator (2025)";

}  // namespace dadsim::sim::devices
