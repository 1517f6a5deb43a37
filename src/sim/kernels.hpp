#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/device_specification.hpp"
#include "spec/layer_passes.hpp"
#include "spec/names.hpp"
#include "spec/precision.hpp"

// How long one kernel takes by itself on a device, from a few numbers per generation that were fitted to published
// measurements of kernels, and to no training (sim/devices/kernels.csv; docs/kernels.md has how far they are off).

namespace dadsim::sim {

/// In what operands of products are; with all but 16 bit the time has the cast of the rows in it.
enum class KernelFormat : std::uint8_t { bits16, fp8, fp8_block, nvfp4 };
constexpr auto names_of(KernelFormat) {
  using enum KernelFormat;
  return std::to_array<spec::Name<KernelFormat>>(
      {{bits16, "16-bit"}, {fp8, "fp8"}, {fp8_block, "fp8-block"}, {nvfp4, "nvfp4"}});
}

/// What a kernel may reach of a device in some format.
struct KernelRates {
  double peak = 0;       ///< flop/s of products
  double bandwidth = 0;  ///< byte/s, by the data sheet
  double streamed = 1;   ///< share of it that streaming reaches
};
/// Nothing where the device does not have the format.
std::optional<KernelRates> kernel_rates(const spec::DeviceSpec& device, KernelFormat format);

/// Products of matrices, m × k by k × n, of one family in one format:
///     t = fixed + max(F (1 + depth ÷ k) ÷ (share × peak), bytes ÷ (streamed × bandwidth)) + 3 m k ÷ (cast × bandwidth)
/// with F = 2 m n k. Where `units` are known, F is that of the tiles of one size, of 256 × 128 and less the one that is
/// quickest: they are dealt to the units in waves, of which what is missing to a whole one counts `last_wave`, and each
/// halving of a tile costs `halving`.
struct ProductKernel {
  double share = 1;      ///< of the peak, of a large product
  double fixed = 0;      ///< seconds
  double depth = 0;      ///< k of which half as much is reached
  double units = 0;      ///< that tiles are dealt to; 0: tiles make no difference
  double last_wave = 0;  ///< 1: the last wave takes as long as any; 0: as far as it is filled
  double halving = 0;    ///< share of its time by which a tile of half the size takes longer
  double cast = 0;       ///< share of the bandwidth at which rows are cast, two bytes in and one out; 0: no cast
};
/// Fused attention of h heads of size d over sequences of which a position sees s in the mean, forward:
///     t = fixed + (1 + length ÷ s) max(F ÷ (share × peak), E × per exponential ÷ (exponentials × peak))
/// with F = 4 d E and E exponentials, one per pair of positions and head; the units for exponentials make one in the
/// time of `per_exponential` flop. Backward F is 2.5 times as much, and E as much as forward twice (it is done again,
/// and what softmax passes back is as much work).
struct AttentionKernel {
  double share = 1;
  double fixed = 0;            ///< seconds
  double length = 0;           ///< positions seen of which half as much is reached
  double exponentials = 1;     ///< share of their rate
  double per_exponential = 1;  ///< flop of products at the peak
};

/// By which share computing takes longer while the device communicates, which takes multiprocessors and bandwidth: 18.9
/// % in the mean of products, attention and passes over memory beside all-gathers, reduce-scatters and all-reduces on
/// A100, H100, MI210 and MI250 (arXiv:2507.03114). 0 where efficiencies are those of whole trainings, which have it in
/// them: of devices whose kernels are not known, and in fp16 and wider.
double slowed_beside_communication(const spec::DeviceSpec& device, spec::Precision precision);

/// Of a device of the catalogue (sim/devices/kernel_families.csv).
spec::KernelFamily measured_family(const std::string& device);

/// Null: nothing is known of such kernels of the family.
const ProductKernel* product_kernel(spec::KernelFamily family, KernelFormat format);
/// Of one library, or where nothing is known of its kernels there of all libraries together.
const AttentionKernel* attention_kernel(spec::KernelFamily family, KernelFormat format, bool backward,
                                        spec::FlashLibrary library = spec::FlashLibrary::any);

struct Product {
  double m = 1, n = 1, k = 1;
  double element = 2;  ///< bytes of an operand's number; of the result 2
};
/// Seconds of a product by itself. Throws std::logic_error for sizes that make no sense.
double product_seconds(const ProductKernel& kernel, const KernelRates& rates, const Product& product);
/// Of its arithmetic by itself: how many times longer it takes than as a part of an endless one.
double shape_factor(const ProductKernel& kernel, const Product& product);

struct FusedAttention {
  double flops = 0;      ///< that are done
  double head_size = 1;  ///< d
  double seen = 1;       ///< s
  bool backward = false;
};
/// Of so many pairs of a position and one that it sees, of all heads.
double attention_flops(double pairs, double head_size, bool backward);
double attention_seconds(const AttentionKernel& kernel, const KernelRates& rates, const FusedAttention& attention);

}  // namespace dadsim::sim
