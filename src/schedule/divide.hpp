#pragma once

#include <functional>

#include "schedule/schedule.hpp"
#include "spec/parallelism.hpp"

// A training step of replicas that are of several devices, or work on several micro-batches, from the recorded step of
// one that is neither.
//
//   - The layers are dealt out to the pieces of a pipeline (spec::pieces_of); a stage passes on what its last layer
//   puts
//     out, and the Δ of it comes back.
//   - The passes through the network are done for every micro-batch, in the order of pipeline_order(). What an
//   algorithm
//     computes and sends beside them is done once: with the last micro-batch, where it was recorded, by every stage for
//     its own layers.
//   - Devices that divide a layer among them sum outputs and deltas as in Megatron-LM (Shoeybi et al.,
//     arXiv:1909.08053): two all-reduces per block and pass; with sequence parallelism an all-gather and a
//     reduce-scatter in place of each (Korthikanti et al., arXiv:2205.05198, section 4.2).
//   - Devices that have a part of each sequence gather keys and values of the others for attention, and scatter the
//   sums
//     of their gradients: beside it or before it, as ContextExchange says. Gradients are summed among them too.
//   - Devices that divide experts hand one another the rows that the router sends to theirs, and what comes out of
//   them:
//     two all-to-alls per block and pass, of which each is waited for (Lepikhin et al., arXiv:2006.16668, section 3.2).
//     Gradients of experts are summed among the devices that have the same.
//   - What is not kept is computed again block by block before the block's backward pass.
//   - Replicas that divide parameters, gradients or the optimizer gather and scatter them in place of summing gradients
//     (ZeRO: Rajbhandari et al., SC 2020, arXiv:1910.02054): see divide.cpp.

namespace dadsim::schedule {

/// The recorded step for those layers of the timed network, each as large as the part of one device, with that many
/// samples per replica ÷ the samples learned with; collectives as the run has them.
using StepOfLayers = std::function<Schedule(const spec::LayerRange& layers, double sample_scale)>;

/// What is divided.
struct Undivided {
  StepOfLayers step;
  const spec::ModelShape& whole;   ///< the timed network
  const spec::ModelShape& device;  ///< the part of each layer that one device has (spec::sharded); the same without
  std::int64_t batch = 1;          ///< samples of a replica
  double sample_scale = 1;         ///< they ÷ samples that the recorded step had per replica
  /// The algorithms of what the devices of a stage do together, and of what replicas that divide states and parameters
  /// have instead of sums.
  std::string all_reduce = "auto";
  std::string all_gather = "auto";
  std::string reduce_scatter = "auto";
  /// The sums that the step has are of gradients, of which a replica needs no more than it updates; else it needs all
  /// of each.
  bool sums_gradients = true;
};

/// See above. Throws std::invalid_argument where pipeline_order() or pieces_of() do, and for a step with an aggregator,
/// between neighbours, or without what sharding needs, in words: sums alone, and where gradients are divided sums of
/// gradients.
Schedule divide(const Undivided& step, const spec::ParallelismSpec& how, std::size_t replicas);

}  // namespace dadsim::schedule
