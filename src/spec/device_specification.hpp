#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/layer_shape.hpp"
#include "spec/platform_specification.hpp"
#include "spec/precision.hpp"

namespace dadsim::spec {

/// Efficiency of large matrix products of one kind of layer, as a share of the peak.
struct KindEfficiency {
  LayerKind kind = LayerKind::dense;   ///< kind of layer: dense, convolution or attention
  std::optional<Precision> precision;  ///< precision of the products; nullopt: any
  double share = 0;                    ///< share of the peak, 0…1
  std::string source = {};             ///< measurement used for calibration; empty for a value given by the user
  bool operator==(const KindEfficiency&) const = default;
};

/// Returns the names of all kernel families (spec/kernel_names.csv). A family sets how products and fused attention
/// slow down with their shape (sim/devices/kernels.csv).
const std::vector<std::string>& kernel_families();
/// Family of a device of which only ramp and tiles are known.
inline constexpr const char* kNoKernels = "none";
/// Family with the means of all others.
inline constexpr const char* kAnyKernels = "any";

/// A device, described by its roofline. Rates of arithmetic refer to dense products without sparsity; a fused
/// multiply-add counts as two flop. A rate is 0 if the device lacks the precision.
struct DeviceSpec {
  std::string name;
  std::string description;
  double peak_flops = 0;        ///< flop/s in fp32 on the ordinary (vector) units
  double memory_bandwidth = 0;  ///< byte/s of device memory
  double matrix_efficiency = 0;  ///< share of the peak that large matrix products reach, 0…1: the default for all kinds
  double memory_efficiency = 0;  ///< share of memory_bandwidth that passes reach, 0…1
  double launch_overhead = 0;    ///< seconds to launch a kernel
  std::string source;            ///< publication of the numbers, with those that are assumptions
  /// Measured seconds of all computations of a step; 0: the roofline gives the times. The measured time is divided
  /// among the computations in proportion to their roofline times.
  double step_seconds = 0;
  double tf32_flops = 0;
  double fp16_flops = 0;
  double bf16_flops = 0;
  double memory_bytes = 0;  ///< bytes of memory; 0: unknown
  double power = 0;         ///< watts under load (TDP or TGP); 0: unknown
  /// Seconds, at the peak rate, of the matrix product that reaches half of the efficiency of large products; 0: size
  /// has no effect.
  double ramp_seconds = 0;
  double tile_rows = 1;  ///< rows; products with fewer rows take as long as products with this number
  /// multiplications of 3×3 convolutions in fp32, as a share of those of the direct form (minimal filtering); 1: all
  double winograd_share = 1;
  std::vector<KindEfficiency> efficiencies = {};  ///< efficiencies by kind and precision, in place of matrix_efficiency
  double fp8_flops = 0;
  double fp4_flops = 0;  ///< flop/s for nvfp4; these devices also scale blocks of fp8 (mxfp8), as fast as fp8
  double slowdown = 1;   ///< factor on all computing times, relative to devices of its kind; above 0
  std::optional<CollectiveLibrary> library = std::nullopt;  ///< collective library; none: unknown
  GpuGeneration generation = GpuGeneration::ampere;         ///< generation of an NVIDIA GPU
  std::string kernels = kNoKernels;                         ///< family of kernel constants, one of kernel_families()

  /// Returns whether the family of kernel constants is known.
  bool has_kernels() const { return kernels != kNoKernels; }
  /// Returns the flop/s of a precision; 0 if the device lacks it.
  double peak(Precision precision) const;
  /// Returns for example "fp32, tf32, fp16, bf16 and fp8".
  std::string precisions() const;
  /// Returns the efficiency of large matrix products: that of this kind in this precision, else of this kind, else
  /// matrix_efficiency. Other formats with cast operands (fp8 with other scales, mxfp8, nvfp4) use the efficiency of
  /// fp8 if they have no entry of their own.
  double efficiency(LayerKind kind, Precision precision) const;
};

}  // namespace dadsim::spec
