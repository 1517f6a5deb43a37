#pragma once

#include <cstdint>
#include <vector>

#include "estimate/memory.hpp"
#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"
#include "spec/precision.hpp"
#include "spec/specification.hpp"

namespace dadsim::estimate {

/// Memory that depends on the program that trains.
struct ProgramMemory {
  double gradient_width = 1;  ///< bytes of a summed gradient ÷ those of the precision
  double shortcut = 0;        ///< bytes per number that blocks hand on; 0: those of the precision
  /// Bytes per number of empty gradients. A product that adds to a sum in fp32 returns such a gradient to automatic
  /// differentiation: one per matrix of a block, which blocks share (Transformer Engine 2.11, get_dummy_wgrad), and one
  /// of the decoder while its pass back begins (Megatron-LM, its linear layer with fused accumulation).
  double empty_gradient = 0;
  /// Recomputed blocks hold no copies of fp32 weights in 16 bit (PyTorch's autocast casts them in each pass).
  bool casts_again = false;
};

/// Returns the memory of memory_use() in such a program.
MemoryUse memory_use(const spec::ModelShape& model, const spec::OptimizerSpec& optimizer, const AlgorithmState& state,
                     const std::vector<std::int32_t>& samples, std::size_t worker, spec::Precision precision,
                     const spec::ParallelismSpec& parallelism, const StateWidths& widths, const ProgramMemory& program);

}  // namespace dadsim::estimate
