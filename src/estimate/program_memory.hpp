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

/// Properties of a training program that its memory depends on.
struct ProgramMemory {
  double gradient_width = 1;  ///< bytes of a summed gradient ÷ bytes of a number in the precision
  double shortcut = 0;        ///< bytes per number sent between blocks; 0: bytes of the precision
  /// Bytes per number of empty gradients, which a product that accumulates in fp32 returns to automatic
  /// differentiation. There is one per matrix of a block, shared by all blocks (Transformer Engine 2.11,
  /// get_dummy_wgrad), and one of the decoder at the start of its backward pass (Megatron-LM, its linear layer with
  /// fused accumulation).
  double empty_gradient = 0;
  /// True: recomputed blocks hold no 16-bit copies of fp32 weights (PyTorch's autocast casts them in each pass).
  bool casts_again = false;
};

/// Returns the memory_use() of a training program with properties `program`. `moments`: set to the memory of the device
/// over a step. Between two moments memory changes linearly.
MemoryUse memory_use(const spec::ModelShape& model, const spec::OptimizerSpec& optimizer, const AlgorithmState& state,
                     const std::vector<std::int32_t>& samples, std::size_t worker, spec::Precision precision,
                     const spec::ParallelismSpec& parallelism, const StateWidths& widths, const ProgramMemory& program,
                     std::vector<MemoryMoment>* moments = nullptr);

/// Returns the largest number of bytes by which gradients of weights exceed the activations freed so far. All
/// activations exist when the backward pass starts. `gradient`: bytes per gradient. 0 for a network with class scores,
/// because freeing these makes room first.
double gradients_before_room(const spec::ModelShape& model, double samples, double gradient,
                             const spec::KeptActivations& kept);

}  // namespace dadsim::estimate
