#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/layer_shape.hpp"
#include "spec/platform_specification.hpp"
#include "spec/precision.hpp"

namespace dadsim::spec {

/// Share of the peak reached by large matrix products of one kind of layer.
struct KindEfficiency {
  LayerKind kind = LayerKind::dense;   ///< kind of layer: dense, convolution or attention
  std::optional<Precision> precision;  ///< precision of the products; nullopt: all precisions
  double share = 0;                    ///< share of the peak, 0…1
  std::string source = {};             ///< measurement used for calibration; empty for a user's own
  bool operator==(const KindEfficiency&) const = default;
};

/// Returns the names of all kernel families (spec/kernel_names.csv). A family sets how products and fused attention
/// slow down with their shape (sim/devices/kernels.csv).
const std::vector<std::string>& kernel_families();
/// Family of a device of which only ramp and tiles are known.
inline constexpr const char* kNoKernels = "none";
/// Family with the means of all others.
inline constexpr const char* kAnyKernels = "any";

/// A device by its roofline. Arithmetic rates refer to dense products without sparsity, a fused multiply-add counting
/// as two flop; 0 for a precision that the device lacks.
struct DeviceSpec {
  std::string name;
  std::string description;
  double peak_flops = 0;        ///< flop/s in fp32 on the ordinary (vector) units
  double memory_bandwidth = 0;  ///< byte/s
  double matrix_efficiency = 0;  ///< share of the peak reached by large matrix products, 0…1: the default for all kinds
  double memory_efficiency = 0;  ///< share of memory_bandwidth reached, 0…1
  double launch_overhead = 0;    ///< seconds per kernel
  std::string source;            ///< publication of the numbers; names those that are assumptions
  /// Measured seconds of all computations of a step; 0: by the roofline. A measured step is divided among the
  /// computations in proportion to their roofline time.
  double step_seconds = 0;
  double tf32_flops = 0;
  double fp16_flops = 0;
  double bf16_flops = 0;
  double memory_bytes = 0;  ///< bytes of memory; 0: unknown
  double power = 0;         ///< watts under load (TDP or TGP); 0: unknown
  /// Duration at peak, in seconds, of the matrix product that reaches half of its efficiency; 0: size has no effect.
  double ramp_seconds = 0;
  double tile_rows = 1;  ///< rows to which products with fewer rows are rounded up
  /// Share of multiplications that 3×3 convolutions need in fp32 (minimal filtering); 1: all.
  double winograd_share = 1;
  std::vector<KindEfficiency> efficiencies = {};  ///< efficiencies that deviate from matrix_efficiency
  double fp8_flops = 0;
  double fp4_flops = 0;  ///< flop/s for nvfp4; devices that have it also scale blocks of fp8 (mxfp8), as fast as fp8
  double slowdown = 1;   ///< factor on all computing times of this device relative to its kind, above 0
  std::optional<CollectiveLibrary> library = std::nullopt;  ///< library that carries out its collectives; none: unknown
  GpuGeneration generation = GpuGeneration::ampere;         ///< generation of an NVIDIA GPU
  std::string kernels = kNoKernels;                         ///< family of kernel constants, one of kernel_families()

  /// Returns whether the family of kernel constants is known.
  bool has_kernels() const { return kernels != kNoKernels; }
  /// Returns flop/s; 0 if the device lacks the precision.
  double peak(Precision precision) const;
  /// Returns for example "fp32, tf32, fp16, bf16 and fp8".
  std::string precisions() const;
  /// Returns the efficiency of large matrix products: for this kind in this precision, else for this kind, else
  /// matrix_efficiency. For mxfp8 and nvfp4 without an entry, the efficiency of fp8.
  double efficiency(LayerKind kind, Precision precision) const;
};

}  // namespace dadsim::spec
