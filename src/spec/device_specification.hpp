#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/layer_shape.hpp"
#include "spec/names.hpp"
#include "spec/platform_specification.hpp"
#include "spec/precision.hpp"

namespace dadsim::spec {

/// Share of a peak that the matrix products of one kind of layer reach when they are large.
struct KindEfficiency {
  LayerKind kind = LayerKind::dense;   ///< dense, convolution or attention
  std::optional<Precision> precision;  ///< nullopt: in all of them
  double share = 0;                    ///< 0…1
  std::string source = {};             ///< the measurement it was calibrated on; empty for a user's own
  bool operator==(const KindEfficiency&) const = default;
};

/// Whose kernels a device's are like in how products and fused attention fall off with their shape
/// (sim/devices/kernels.csv).
enum class KernelFamily : std::uint8_t { none, ampere, hopper, blackwell, cdna4 };
constexpr auto names_of(KernelFamily) {
  using enum KernelFamily;
  return std::to_array<Name<KernelFamily>>(
      {{none, "none"}, {ampere, "ampere"}, {hopper, "hopper"}, {blackwell, "blackwell"}, {cdna4, "cdna4"}});
}

/// A device by its roofline. Rates of arithmetic are of dense products without sparsity, a fused multiply-add counted
/// as two flop; 0 where the device does not have the precision.
struct DeviceSpec {
  std::string name;
  std::string description;
  double peak_flops = 0;         ///< flop/s in fp32 on the ordinary (vector) units
  double memory_bandwidth = 0;   ///< byte/s
  double matrix_efficiency = 0;  ///< share of a peak that large matrix products reach, 0…1: the default of all kinds
  double memory_efficiency = 0;  ///< share of memory_bandwidth reached, 0…1
  double launch_overhead = 0;    ///< seconds per kernel
  std::string source;            ///< where the numbers are published, and which are assumptions
  /// Seconds of all computations of a step, measured; 0: by the roofline. A measured step is divided among the
  /// computations by their time on the roofline.
  double step_seconds = 0;
  double tf32_flops = 0;
  double fp16_flops = 0;
  double bf16_flops = 0;
  double memory_bytes = 0;  ///< 0: unknown
  double power = 0;         ///< watts under load (TDP or TGP); 0: unknown
  /// A matrix product that would take this long at its peak reaches half of its efficiency; 0: size makes no
  /// difference. Seconds.
  double ramp_seconds = 0;
  double tile_rows = 1;  ///< products of fewer rows than this take the time of so many
  /// Share of the multiplications that convolutions of 3×3 windows take in fp32 (minimal filtering); 1: all of them.
  double winograd_share = 1;
  std::vector<KindEfficiency> efficiencies = {};  ///< other than matrix_efficiency
  double fp8_flops = 0;
  double fp4_flops = 0;  ///< of nvfp4; those that have it scale blocks of fp8 (mxfp8) too, as fast as fp8
  double slowdown = 1;   ///< of this one of its kind: by how much longer all that it computes takes, above 0
  std::optional<CollectiveLibrary> library = std::nullopt;  ///< what carries out its collectives; nothing: not known
  GpuGeneration generation = GpuGeneration::ampere;         ///< of NVIDIA's
  KernelFamily kernels = KernelFamily::none;  ///< none: nothing is known of their shapes but ramp and tiles

  /// Flop/s; 0 if the device does not have it.
  double peak(Precision precision) const;
  /// "fp32, tf32, fp16, bf16 and fp8".
  std::string precisions() const;
  /// Efficiency of large matrix products: of this kind in this precision, else of this kind, else matrix_efficiency.
  /// Of mxfp8 and nvfp4, where nothing is said of them, that of fp8.
  double efficiency(LayerKind kind, Precision precision) const;
};

}  // namespace dadsim::spec
