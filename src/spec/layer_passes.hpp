#pragma once

#include <array>
#include <cstdint>

#include "spec/names.hpp"

namespace dadsim::spec {

/// Execution of a training program's operators.
enum class Program : std::uint8_t {
  typical,   ///< the software of the calibration trainings; the calibrated constants include its overheads
  tuned,     ///< compiled, in 16 bit, without casts of weights; no host delays the kernels
  eager,     ///< one kernel per operator, launched one after the other by the host: PyTorch without torch.compile
  compiled,  ///< operators between products are fused (torch.compile)
  graphs,    ///< kernels of an eager program, recorded once and launched together (CUDA graphs)
};
constexpr auto names_of(Program) {
  using enum Program;
  return std::to_array<Name<Program>>(
      {{typical, "typical"}, {tuned, "tuned"}, {eager, "eager"}, {compiled, "compiled"}, {graphs, "graphs"}});
}

/// Returns whether the program is PyTorch's: autocast casts fp32 weights, and collectives go through DTensor.
constexpr bool casts_weights(Program program) { return program != Program::typical && program != Program::tuned; }

/// Library of the fused attention kernels.
enum class FlashLibrary : std::uint8_t {
  any,      ///< unknown: mean of the measured libraries
  flash_2,  ///< FlashAttention-2 (Dao, arXiv:2307.08691)
  flash_3,  ///< kernels for Hopper and later: FlashAttention-3 (arXiv:2407.08608), cuDNN
};
constexpr auto names_of(FlashLibrary) {
  using enum FlashLibrary;
  return std::to_array<Name<FlashLibrary>>({{any, "any"}, {flash_2, "flash-2"}, {flash_3, "flash-3"}});
}

/// Memory passes of a layer's kernels in addition to its products; filled in by with_program(), empty for a typical
/// program.
struct LayerPasses {
  Program program = Program::typical;
  /// Bytes passed over per output number: forward, backward, and for the gradient of weights. For attention with
  /// written scores: bytes per score. Norms count all their passes; other layers count only kernels other than the
  /// product.
  double forward = 0, back = 0, weights = 0;
  double unfused_forward = 0, unfused_back = 0;         ///< bytes per score of fused attention, if written
  double parameter_forward = 0, parameter_weights = 0;  ///< bytes per number of the layer's matrix
  double kernels_forward = 0, kernels_back = 0, kernels_weights = 0;
  double host = 0;     ///< host seconds per kernel launch
  double divided = 0;  ///< additional host seconds for the product of a divided layer
  double between = 0;  ///< device seconds between consecutive kernels
  bool operator==(const LayerPasses&) const = default;
};

}  // namespace dadsim::spec
