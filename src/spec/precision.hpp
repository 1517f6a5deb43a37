#pragma once

#include <array>
#include <cstdint>

#include "spec/names.hpp"

namespace dadsim::spec {

/// The arithmetic that a step is timed in. Learning itself is always in fp32.
enum class Precision : std::uint8_t {
  fp32,
  tf32,  ///< fp32 in memory and on the wire, products on tensor cores
  fp16,  ///< activations, gradients and products in 16 bit; the optimizer keeps a master copy in fp32
  bf16,  ///< the same
  fp8,   ///< bf16, but for the products of dense layers, whose operands are cast to 8 bit (arXiv:2209.05433)
};
inline constexpr std::array kPrecisions{Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                                        Precision::fp8};

constexpr auto names_of(Precision) {
  using enum Precision;
  return std::to_array<Name<Precision>>({{fp32, "fp32"}, {tf32, "tf32"}, {fp16, "fp16"}, {bf16, "bf16"}, {fp8, "fp8"}});
}

/// Bytes of an activation or gradient in memory and on the wire.
double bytes_per_element(Precision precision);

/// Whether parameters are kept twice: in 16 bit for the products, and in fp32 for the optimizer (Micikevicius et al.,
/// Mixed Precision Training, ICLR 2018, section 3.1).
bool has_master_copies(Precision precision);

}  // namespace dadsim::spec
