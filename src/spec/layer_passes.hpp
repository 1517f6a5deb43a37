#pragma once

#include <array>
#include <cstdint>

#include "spec/names.hpp"

namespace dadsim::spec {

/// How a training program has its operators carried out.
enum class Program : std::uint8_t {
  tuned,     ///< as the software of the trainings that constants come from, which have in them what is not told apart
  eager,     ///< a kernel for each operator, begun by the host one after the other: PyTorch without torch.compile
  compiled,  ///< what lies between products is fused (torch.compile)
  graphs,    ///< the kernels of an eager program, recorded once and begun together (CUDA graphs)
};
constexpr auto names_of(Program) {
  using enum Program;
  return std::to_array<Name<Program>>({{tuned, "tuned"}, {eager, "eager"}, {compiled, "compiled"}, {graphs, "graphs"}});
}

/// Whose kernels of fused attention.
enum class FlashLibrary : std::uint8_t {
  any,      ///< the mean of those that were measured
  flash_2,  ///< FlashAttention-2 (Dao, arXiv:2307.08691)
  flash_3,  ///< those made for Hopper and later: FlashAttention-3 (arXiv:2407.08608), cuDNN
};
constexpr auto names_of(FlashLibrary) {
  using enum FlashLibrary;
  return std::to_array<Name<FlashLibrary>>({{any, "any"}, {flash_2, "flash-2"}, {flash_3, "flash-3"}});
}

/// What a layer has in a program beside its products (with_program() fills it in); of a tuned one nothing is told.
struct LayerPasses {
  Program program = Program::tuned;
  /// Bytes passed over per number that comes out (of attention that writes its scores: per score), in the pass forward,
  /// back, and with the gradient of the weights. Of norms all that they pass over; of others what kernels beside the
  /// product do.
  double forward = 0, back = 0, weights = 0;
  double unfused_forward = 0, unfused_back = 0;  ///< of fused attention: what it would have per score if it wrote them
  double parameter_forward = 0, parameter_weights = 0;  ///< bytes per number of the matrix
  double kernels_forward = 0, kernels_back = 0, kernels_weights = 0;
  double host = 0;     ///< seconds of the host for each of these kernels
  double between = 0;  ///< seconds of the device between two of them
  bool operator==(const LayerPasses&) const = default;
};

}  // namespace dadsim::spec
