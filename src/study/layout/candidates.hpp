#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/layout/layout_report.hpp"
#include "spec/layer_shape.hpp"
#include "spec/specification.hpp"

namespace dadsim::study {

/// A candidate layout, with its estimate.
struct LayoutCandidate {
  report::Layout layout;
  report::StepParts estimate;  ///< step estimated in closed form
  double bytes = 0;            ///< bytes of memory on the fullest device
  bool simulated = false;
};

/// Returns the attributes of <timed-as> that give the layout.
spec::TimedAsSpec timed_as_spec_of(const report::Layout& layout);
/// Returns the layout as assignments for --set: "timed-as.tensor=8".
std::vector<std::string> assignments_of(const report::Layout& layout);

/// Search space of layouts.
struct LayoutSpace {
  std::int64_t devices = 1;
  std::int64_t devices_per_node = 1;  ///< devices of a node, which bounds tensor parallelism
  std::int64_t global_batch = 1;      ///< samples of all replicas per step
  bool plain_attention = true;        ///< true: attention scores are kept, and can be recomputed
  bool divides_sequences = true;      ///< true: the run's method allows sequences divided among devices
  spec::Sharding most_sharding = spec::Sharding::parameters;  ///< highest sharding that the run's gradient sums allow
  spec::ParallelismSpec base;                                 ///< values of the attributes that are not searched
  /// Attributes of <timed-as> that are not searched, with their values as they are printed.
  std::vector<std::pair<std::string, std::string>> fixed;

  bool holds(const report::Layout& layout) const;  ///< true if the layout has all fixed values that matter for it
};

/// Returns every layout of the network that divides evenly. Devices form replicas of tensor × context × pipeline; the
/// global batch is divided among replicas, and the batch of a replica into micro-batches. Heads and widths are divided
/// among `tensor` devices, sequences among `context` (powers of two), experts among devices of a stage. Blocks are
/// divided among stages so that no stage has more than 7/6 of the mean number. Micro-batches are powers of two up to
/// 32, or the whole batch of a replica up to 32.
///
/// Stages of several pieces use 1F1B if micro-batches are a multiple of the stages (Narayanan et al., arXiv:2104.04473,
/// section 2.2.2), else GPipe (all forward passes first). With one piece, GPipe is left out: it has the same bubble and
/// keeps more activations. One piece also allows ZB-H1, two pieces DualPipeV.
///
/// States are sharded among all replicas, or among those of a node. With a pipeline, only the optimizer state is
/// sharded: this exchanges as much as an all-reduce and needs less memory, while ZeRO-2 and 3 would exchange with every
/// micro-batch. The backward pass recomputes blocks, or attention with kept scores, or, with experts or latent vectors,
/// norms, activations of experts and products of latent vectors. If a layer is divided, norms are divided along the
/// sequence (arXiv:2205.05198). A fixed value outside these choices is used as long as it divides evenly.
std::vector<report::Layout> layouts_of(const spec::ModelShape& shape, const LayoutSpace& space);

}  // namespace dadsim::study
