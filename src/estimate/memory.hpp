#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"
#include "spec/precision.hpp"
#include "spec/specification.hpp"
#include "step/expression.hpp"

namespace dadsim::estimate {

/// State that an algorithm keeps on every worker, in addition to plain training.
struct AlgorithmState {
  step::Expression floats;  ///< floats per layer with a matrix
  std::int32_t rank = 0;    ///< components per worker; replaces slot 0 of the ranks in `floats`
  bool embeddings = false;  ///< true: `floats` also applies to embedding tables
};

/// Bytes per parameter of an optimizer's state, in addition to 16-bit weights: of the master copy, and of each moment.
struct StateWidths {
  double master = 4, moment = 4;
  bool operator==(const StateWidths&) const = default;
};

/// Bytes that a training step needs on one device. Excludes a framework's context, workspaces, fragmentation, libraries
/// and allocator (about a gigabyte). Of the gradients of activations, only those of class scores and of one
/// feed-forward network are included.
struct MemoryUse {
  double parameters = 0;
  double master_copies = 0;  ///< fp32 copies of 16-bit parameters
  double optimizer = 0;      ///< moments of the optimizer
  double gradients = 0;
  /// Inputs of the backward pass: the network's inputs, and the outputs that each layer keeps
  /// (LayerShape::outputs_kept). If `scores` is 0, also what a block's backward pass needs: recomputed activations, and
  /// gradients of activations.
  double activations = 0;
  /// Class scores and their gradients at the end of the last forward pass; if the loss is computed in parts
  /// (spec/tiles.hpp), of one part. 0 if a block's backward pass needs more. `activations` includes the softmax.
  double scores = 0;
  double algorithm = 0;  ///< state of the algorithm (AlgorithmState)

  double total() const;
  /// Returns the members above by name, except those that are 0.
  std::vector<std::pair<std::string, double>> breakdown() const;
  bool operator==(const MemoryUse&) const = default;
};

/// Memory of a device at one moment of a step.
struct MemoryMoment {
  std::string when;
  MemoryUse use;
};

/// Returns the floats that an optimizer keeps per parameter. Muon keeps fewer for hidden matrices.
double optimizer_state_per_parameter(const spec::OptimizerSpec& optimizer);
/// Returns the floats that an optimizer keeps for a network. Muon keeps one moment for hidden matrices.
double optimizer_state(const spec::OptimizerSpec& optimizer, const spec::ModelShape& model);

/// The memory that worker `worker` needs in a step of `samples`: where a worker is a replica of several devices, the
/// one of them that needs most.
/// - Layers are divided by `parallelism.tensor` (spec/device_part.hpp) and put into stages (spec/stages.hpp); a
///   decoder that shares the table of words keeps a copy of it where they are in different stages.
/// - Micro-batches whose activations stage s of P has at a time, of M: with one forward, one backward min(M, P − s)
///   (Narayanan et al., arXiv:2104.04473, section 2.2), with GPipe M. With v pieces of the network per stage, stage 0
///   has P v + P − 1 pieces at work (arXiv:2205.05198, section 4.2.3), each stage behind it two less. Where gradients
///   of weights wait (schedule/pipeline_order.hpp) each stage has min(M, P), with DualPipeV min(2 M, 2 P + 1). Without
///   a pipeline gradients are accumulated over micro-batches, and there is one at a time.
/// - Sequence parallelism divides by `tensor` what tensor parallelism does not (arXiv:2205.05198, equation 4).
/// - Selective recomputation keeps nothing of the parts that it repeats (spec/block_parts.hpp) but those of the half
///   of a block at work; full recomputation keeps what comes into each block, and all of the block at work. Layers in
///   parts keep one part, of the block at work.
/// - Blocks with `offload` keep their activations at the host. The device holds those of two blocks at a time, and
///   always those of the last block, whose backward pass comes next. A share offloads the first blocks of a piece.
/// - Sharding divides by the number of replicas, samples.size() × parallelism.context, or by its group: optimizer and
/// master copies; gradients too; parameters
///   too, of which prefetch + 1 blocks and what is outside of blocks are whole then. Gradients that are divided are
///   whole for one block, and everywhere while all their sums wait (DeferredSums::all). Experts that devices divide
///   (spec/expert_parallel.hpp, done to `model` already) are divided by the number of devices that have the same.
MemoryUse memory_use(const spec::ModelShape& model, const spec::OptimizerSpec& optimizer, const AlgorithmState& state,
                     const std::vector<std::int32_t>& samples, std::size_t worker, spec::Precision precision,
                     const spec::ParallelismSpec& parallelism = {}, const StateWidths& widths = {});

}  // namespace dadsim::estimate
