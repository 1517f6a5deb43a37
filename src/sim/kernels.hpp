#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "spec/device_specification.hpp"
#include "spec/layer_passes.hpp"
#include "spec/names.hpp"
#include "spec/precision.hpp"

// Time of single kernels on a device, from a few constants per generation. They were fitted to published measurements
// of kernels, not of training (sim/devices/kernels.csv; errors: docs/kernels.md).

namespace dadsim::sim {

/// Efficiency of whole trainings ÷ efficiency of the largest measured product, for devices with measurements of
/// products only (docs/devices.md). The geometric mean of 0.56 (H100) and 0.88 (A100), for products measured by S.
/// Bekman, before kernels were counted separately.
inline constexpr double kTrainingOfBestProduct = 0.70;

/// Number format of a product's operands. For formats other than 16 bit, times include the cast of the rows.
enum class KernelFormat : std::uint8_t { bits16, fp8, fp8_block, nvfp4 };
constexpr auto names_of(KernelFormat) {
  using enum KernelFormat;
  return std::to_array<spec::Name<KernelFormat>>(
      {{bits16, "16-bit"}, {fp8, "fp8"}, {fp8_block, "fp8-block"}, {nvfp4, "nvfp4"}});
}

/// Peak rates of a device in one format.
struct KernelRates {
  double peak = 0;       ///< peak flop/s of products
  double bandwidth = 0;  ///< byte/s, by the data sheet
  double streamed = 1;   ///< share of `bandwidth` that streaming reaches
};
/// Returns the rates in a format, or nothing if the device lacks the format.
std::optional<KernelRates> kernel_rates(const spec::DeviceSpec& device, KernelFormat format);

/// Matrix products, m × k by k × n, of one family in one format:
///     t = fixed + max(F (1 + depth ÷ k) ÷ (share × peak), bytes ÷ (streamed × bandwidth)) + 3 m k ÷ (cast × bandwidth)
/// with F = 2 m n k. Where `units` are known, F counts whole tiles of the quickest size up to 256 × 128. Tiles are
/// dealt to the units in waves. The missing part of the last wave counts `last_wave`, and each halving of a tile costs
/// `halving`.
struct ProductKernel {
  double share = 1;      ///< share of the peak that a large product reaches
  double fixed = 0;      ///< seconds independent of the product's size
  double depth = 0;      ///< k at which a product reaches half of `share`
  double units = 0;      ///< units to which tiles are dealt; 0: tiles have no effect
  double last_wave = 0;  ///< cost of a partly filled last wave: 1 as a full wave, 0 in proportion to its tiles
  double halving = 0;    ///< share by which the time per flop grows if a tile has half the size
  double cast = 0;       ///< share of the bandwidth at which rows are cast, two bytes in and one out; 0: no cast
  double grouped = 1;    ///< rate of the products of several matrices in one kernel ÷ rate of a single large product
  double spread = 0;     ///< nine of ten measured times lie between predicted ÷ spread and predicted × spread; 0: no
                         ///< table of such kernels was found
};
/// Fused attention of h heads of size d over sequences in which a position sees s positions on average, forward:
///     t = fixed + (1 + length ÷ s) max(F ÷ (share × peak), E × per exponential ÷ (exponentials × peak))
/// with F = 4 d E and E exponentials, one per pair of positions and head. The units for exponentials compute one in the
/// time of `per_exponential` flop. Backward, F is 2.5 times as much and E twice as much: exponentials are recomputed,
/// and passing back through softmax is as much work.
struct AttentionKernel {
  double share = 1;
  double fixed = 0;            ///< seconds independent of the amount of attention
  double length = 0;           ///< positions seen at which attention reaches half of `share`
  double exponentials = 1;     ///< share of the peak rate of exponentials that is reached
  double per_exponential = 1;  ///< flop of products at the peak, in the time of one exponential
  double spread = 0;           ///< factor, as in the struct above
};

/// Returns the share by which communication slows computation, since both use multiprocessors and bandwidth. 18.9 % is
/// the mean of products, attention and memory-bound kernels during all-gathers, reduce-scatters and all-reduces on
/// A100, H100, MI210 and MI250 (arXiv:2507.03114). Returns 0 if efficiencies come from whole trainings, which include
/// the effect: on devices with unknown kernels, and in fp16 and wider.
double slowed_beside_communication(const spec::DeviceSpec& device, spec::Precision precision);

/// Kernels of a device of the catalogue (sim/devices/kernel_families.csv).
struct DeviceKernels {
  std::string family = spec::kAnyKernels;
  bool measured = false;  ///< true: on this device; false: on another device of the family
  bool steps = false;     ///< true: steps of training are timed by these kernels
};
DeviceKernels kernels_of(const std::string& device);

/// Returns the constants of products; null if unknown for the family.
const ProductKernel* product_kernel(const std::string& family, KernelFormat format);
/// Returns the kernel without its cast, for families that cast rows before a product. Its fixed time is at most that of
/// a product in 16 bit, since measurements in 8 and 4 bit include the start of a cast.
ProductKernel without_cast(const std::string& family, const ProductKernel& kernel);
/// Returns the constants of one library's attention; if these are unknown, the constants for all libraries.
const AttentionKernel* attention_kernel(const std::string& family, KernelFormat format, bool backward,
                                        spec::FlashLibrary library = spec::FlashLibrary::any);

struct Product {
  double m = 1, n = 1, k = 1;
  double element = 2;  ///< bytes per operand number; result numbers have 2
};
/// Returns the seconds of a single product. Throws std::logic_error for sizes that make no sense.
double product_seconds(const ProductKernel& kernel, const KernelRates& rates, const Product& product);
/// Returns the time of the product's arithmetic ÷ the time of an equal part of an infinitely large product.
double shape_factor(const ProductKernel& kernel, const Product& product);

struct FusedAttention {
  double flops = 0;      ///< flop carried out
  double head_size = 1;  ///< d, numbers per head
  double seen = 1;       ///< s, positions seen on average
  bool backward = false;
};
/// Returns the flop of attention. `pairs`: number of pairs of positions in which the first position sees the second,
/// summed over heads.
double attention_flops(double pairs, double head_size, bool backward);
double attention_seconds(const AttentionKernel& kernel, const KernelRates& rates, const FusedAttention& attention);

}  // namespace dadsim::sim
