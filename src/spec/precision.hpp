#pragma once

#include <array>
#include <cstdint>

#include "spec/names.hpp"

namespace dadsim::spec {

/// Arithmetic of a timed step. Learning always uses fp32.
enum class Precision : std::uint8_t {
  fp32,
  tf32,         ///< tf32: fp32 in memory and messages, products on tensor cores
  fp16,         ///< activations, gradients and products in 16 bit; the optimizer keeps a master copy in fp32
  bf16,         ///< activations, gradients and products in 16 bit; the optimizer keeps a master copy in fp32
  fp8,          ///< bf16 with operands of dense products cast to 8 bit (arXiv:2209.05433)
  mxfp8,        ///< fp8 with a scale for each 32 numbers (OCP Microscaling Formats 1.0, 2023; arXiv:2506.08027)
  nvfp4,        ///< fp8 with 4-bit operands, and a scale for each 16 numbers (NVIDIA, arXiv:2509.25149)
  fp8_current,  ///< fp8 with a tensor's scale computed by a pass over its current values, instead of earlier steps
  fp8_block,    ///< fp8 with a scale for each 128 numbers, for weights per block of 128 × 128 (DeepSeek-V3,
                ///< arXiv:2412.19437, 3.3)
};
inline constexpr std::array kPrecisions{Precision::fp32,  Precision::tf32,        Precision::fp16,
                                        Precision::bf16,  Precision::fp8,         Precision::mxfp8,
                                        Precision::nvfp4, Precision::fp8_current, Precision::fp8_block};

constexpr auto names_of(Precision) {
  using enum Precision;
  return std::to_array<Name<Precision>>({{fp32, "fp32"},
                                         {tf32, "tf32"},
                                         {fp16, "fp16"},
                                         {bf16, "bf16"},
                                         {fp8, "fp8"},
                                         {mxfp8, "mxfp8"},
                                         {nvfp4, "nvfp4"},
                                         {fp8_current, "fp8-current"},
                                         {fp8_block, "fp8-block"}});
}

/// Returns whether operands are cast to fp8, whatever the scales. Products have the same rate with any of these scales.
constexpr bool is_fp8(Precision precision) {
  return precision == Precision::fp8 || precision == Precision::fp8_current || precision == Precision::fp8_block;
}

/// Returns whether operands of dense products are cast to fewer than 16 bit. Everything else is bf16.
constexpr bool casts_operands(Precision precision) {
  return is_fp8(precision) || precision == Precision::mxfp8 || precision == Precision::nvfp4;
}

/// Returns the bytes per number of a product's operand with its scales: 1 for fp8 (one scale per tensor), 1 + 4/128 in
/// blocks of 128, 1 + 1/32 for mxfp8, 1/2 + 1/16 for nvfp4. Other precisions: bytes_per_element().
double operand_bytes(Precision precision);

/// Returns the bytes of an activation or gradient in memory and in messages.
double bytes_per_element(Precision precision);

/// Returns whether parameters have two copies: in 16 bit for products, and in fp32 for the optimizer (Micikevicius et
/// al., Mixed Precision Training, ICLR 2018, section 3.1).
bool has_master_copies(Precision precision);

}  // namespace dadsim::spec
