#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spec/layer_shape.hpp"
#include "spec/precision.hpp"
#include "spec/specification.hpp"
#include "step/expression.hpp"

namespace dadsim::estimate {

/// What an algorithm keeps on every worker beyond what any training does.
struct AlgorithmState {
  step::Expression floats;  ///< per layer with a matrix
  std::int32_t rank = 0;    ///< components of every worker: what slot 0 of the ranks in it stands for
  bool embeddings = false;  ///< embedding tables too
};

/// Bytes that a training step needs on the device of one worker. Not in it: what a framework, its libraries and its
/// allocator take besides (about a gigabyte of context, workspaces, fragmentation), and that activations may be dropped
/// and computed again.
struct MemoryUse {
  double parameters = 0;
  double master_copies = 0;  ///< fp32 beside parameters in 16 bit
  double optimizer = 0;      ///< moments, in fp32
  double gradients = 0;
  double activations = 0;  ///< what the backward pass needs: the inputs of the network and all outputs of its layers
  double algorithm = 0;    ///< AlgorithmState

  double total() const;
  /// The lines above by name, those of nothing left out.
  std::vector<std::pair<std::string, double>> breakdown() const;
  bool operator==(const MemoryUse&) const = default;
};

/// Floats that an optimizer keeps per parameter.
double optimizer_state_per_parameter(const spec::OptimizerSpec& optimizer);

/// The memory that worker `worker` needs in a step of `samples`.
MemoryUse memory_use(const spec::ModelShape& model, const spec::OptimizerSpec& optimizer, const AlgorithmState& state,
                     const std::vector<std::int32_t>& samples, std::size_t worker, spec::Precision precision);

}  // namespace dadsim::estimate
