#pragma once

#include <functional>

#include "schedule/schedule.hpp"
#include "spec/parallelism.hpp"

// A training step of replicas that consist of several devices, or work on several micro-batches, from the recorded step
// of a replica with one device and one batch.
//
//   - The layers are dealt out to the pieces of a pipeline (spec::pieces_of); a stage passes on the outputs of its
//     last layer, and their Δ comes back.
//   - The passes through the network run for every micro-batch, in the order of pipeline_order(). All
//     other computations and messages of an algorithm happen once: with the last micro-batch, where they were recorded,
//     by every stage for its own layers.
//   - Devices that divide a layer sum outputs and deltas as in Megatron-LM (Shoeybi et al., arXiv:1909.08053): two
//     all-reduces per block and pass; with sequence parallelism an all-gather and a reduce-scatter in place of each
//     (Korthikanti et al., arXiv:2205.05198, section 4.2).
//   - Devices that have a part of each sequence gather the others' keys and values for attention, and scatter the
//     sums of their gradients, overlapped or not (ContextExchange). They sum gradients too.
//   - Devices that divide experts exchange the rows that the router sends to their experts, and the results: two
//     all-to-alls per block and pass, each waited for (Lepikhin et al., arXiv:2006.16668, section 3.2). Devices with
//     the same experts sum their gradients.
//   - Values that are not kept are recomputed block by block before the block's backward pass.
//   - Replicas that divide parameters, gradients or the optimizer gather and scatter them in place of summing gradients
//     (ZeRO: Rajbhandari et al., SC 2020, arXiv:1910.02054): see divide.cpp.
//   - Muon orthogonalises whole matrices: see ModelChunk::assign_matrices().

namespace dadsim::schedule {

/// Returns the recorded step for the given layers of the timed network, each of one device's size, and the run's
/// collectives. The factor is samples per replica ÷ learned samples.
using StepOfLayers = std::function<Schedule(const spec::LayerRange& layers, double sample_scale)>;

/// The step before its division.
struct Undivided {
  StepOfLayers step;
  const spec::ModelShape& whole;   ///< the timed network
  const spec::ModelShape& device;  ///< one device's part of each layer (spec::sharded); the same without division
  std::int64_t batch = 1;          ///< samples per replica
  std::int64_t micro_batches = 0;  ///< micro-batches that pass in this step; 0: all of the batch
  double sample_scale = 1;         ///< samples per replica ÷ those of the recorded step
  /// Algorithms of collectives among the devices of a stage, and of those that replace sums if replicas divide states
  /// or parameters.
  std::string all_reduce = "auto";
  std::string all_gather = "auto";
  std::string reduce_scatter = "auto";
  /// True if the step sums gradients, of which a replica needs only the part that it updates. Otherwise a replica needs
  /// the whole of each sum.
  bool sums_gradients = true;
  /// The step of one device that has whole layers: Newton–Schulz of Muon takes whole matrices. Needed if devices divide
  /// layers.
  StepOfLayers of_whole = nullptr;
};

/// Divides a step as described above. Throws std::invalid_argument like pipeline_order() and pieces_of(). Also throws
/// it, with a message for the user, for a step with an aggregator or exchanges between neighbours, or if sharding needs
/// a step that only sums (with divided gradients, one that sums gradients).
Schedule divide(const Undivided& step, const spec::ParallelismSpec& how, std::size_t replicas);

}  // namespace dadsim::schedule
