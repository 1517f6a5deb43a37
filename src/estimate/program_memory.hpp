#pragma once

#include <cstdint>
#include <vector>

#include "estimate/memory.hpp"
#include "spec/kept_activations.hpp"
#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"
#include "spec/precision.hpp"
#include "spec/specification.hpp"

namespace dadsim::estimate {

/// Memory that depends on the training program.
struct ProgramMemory {
  double gradient_width = 1;  ///< bytes of a summed gradient ÷ those of the precision
  double shortcut = 0;        ///< bytes per number that blocks pass on; 0: bytes of the precision
  /// Bytes per number of empty gradients. A product that accumulates in fp32 returns such a gradient to automatic
  /// differentiation. There is one per matrix of a block, shared by all blocks (Transformer Engine 2.11,
  /// get_dummy_wgrad), and one of the decoder at the start of its backward pass (Megatron-LM, its linear layer with
  /// fused accumulation).
  double empty_gradient = 0;
  /// True: recomputed blocks hold no 16-bit copies of fp32 weights (PyTorch's autocast casts them in each pass).
  bool casts_again = false;
};

/// Returns the memory of memory_use() in such a program. `moments`: filled with the memory of that device over a step.
/// Between two moments memory rises or falls evenly.
MemoryUse memory_use(const spec::ModelShape& model, const spec::OptimizerSpec& optimizer, const AlgorithmState& state,
                     const std::vector<std::int32_t>& samples, std::size_t worker, spec::Precision precision,
                     const spec::ParallelismSpec& parallelism, const StateWidths& widths, const ProgramMemory& program,
                     std::vector<MemoryMoment>* moments = nullptr);

/// Returns the most bytes by which gradients of weights exceed the activations freed before them. The backward pass
/// starts with all activations. `gradient`: bytes per gradient.
double gradients_before_room(const spec::ModelShape& model, double samples, double gradient,
                             const spec::KeptActivations& kept);

}  // namespace dadsim::estimate
