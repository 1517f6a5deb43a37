#pragma once

#include <functional>

#include "schedule/schedule.hpp"
#include "spec/parallelism.hpp"

// Derives the training step of replicas with several devices, or with several micro-batches, from the recorded step of
// a replica with one device and one batch.
//
//   - The layers are distributed over the pieces of a pipeline (spec::pieces_of). A stage sends the outputs of its last
//     layer to the next stage, which sends their Δ back.
//   - The passes through the network run for every micro-batch, in the order of pipeline_order(). All other
//     computations and messages of an algorithm happen once, with the last micro-batch; each stage does those of its
//     own layers.
//   - Devices that divide a layer sum outputs and deltas as in Megatron-LM (Shoeybi et al., arXiv:1909.08053): two
//     all-reduces per block and pass; with sequence parallelism an all-gather and a reduce-scatter in place of each
//     (Korthikanti et al., arXiv:2205.05198, section 4.2).
//   - Devices that have a part of each sequence (context parallelism) gather keys and values for attention, and
//     reduce-scatter their gradients, overlapped or not (ContextExchange). They also sum gradients of weights.
//   - Devices that divide experts exchange the rows that the router sends to their experts, and the results: two
//     all-to-alls per block and pass, each waited for (Lepikhin et al., arXiv:2006.16668, section 3.2). Devices with
//     the same experts sum their gradients.
//   - Values that are not kept are recomputed block by block before the block's backward pass.
//   - Replicas that divide parameters, gradients or the optimizer use all-gathers and reduce-scatters in place of
//     all-reduces of gradients (ZeRO: Rajbhandari et al., SC 2020, arXiv:1910.02054): see divide.cpp.
//   - Muon orthogonalises whole matrices: see ModelChunk::assign_matrices().

namespace dadsim::schedule {

/// Returns the recorded step for some layers of the timed network, each with one device's size, including the run's
/// collectives. `sample_scale`: samples per replica ÷ learned samples.
using StepOfLayers = std::function<Schedule(const spec::LayerRange& layers, double sample_scale)>;

/// The step before its division.
struct Undivided {
  StepOfLayers step;
  const spec::ModelShape& whole;   ///< the timed network
  const spec::ModelShape& device;  ///< one device's part of each layer (spec::sharded); equals `whole` without tensor
                                   ///< parallelism
  std::int64_t batch = 1;          ///< samples per replica
  std::int64_t micro_batches = 0;  ///< micro-batches in this step; 0: all of the batch
  double sample_scale = 1;         ///< samples per replica ÷ those of the recorded step
  /// Algorithms of collectives among a stage's devices, and of collectives that replace all-reduces if replicas divide
  /// states or parameters.
  std::string all_reduce = "auto";
  std::string all_gather = "auto";
  std::string reduce_scatter = "auto";
  /// True if the step's all-reduces sum gradients: with sharding, a replica needs only the part that it updates.
  /// Otherwise a replica needs each sum as a whole.
  bool sums_gradients = true;
  /// The step of one device with whole layers, for Newton–Schulz of Muon. Required if devices divide layers.
  StepOfLayers of_whole = nullptr;
};

/// Divides a step as described above. Throws std::invalid_argument like pipeline_order() and pieces_of(). Also throws
/// it, with a message for the user, for a step with an aggregator or with exchanges between neighbours, and if sharding
/// needs a step that only sums (with divided gradients: that sums gradients).
Schedule divide(const Undivided& step, const spec::ParallelismSpec& how, std::size_t replicas);

}  // namespace dadsim::schedule
