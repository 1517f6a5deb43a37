#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/layout/layout_report.hpp"
#include "spec/layer_shape.hpp"
#include "spec/specification.hpp"

namespace dadsim::study {

/// A layout that may be simulated.
struct LayoutCandidate {
  report::Layout layout;
  report::StepParts estimate;  ///< by the closed form
  double bytes = 0;            ///< bytes of memory, on the device that needs most
  bool simulated = false;
};

/// Returns the attributes of <timed-as> that give the layout.
spec::TimedAsSpec timed_as_spec_of(const report::Layout& layout);
/// Returns them as for --set: "timed-as.tensor=8".
std::vector<std::string> assignments_of(const report::Layout& layout);

/// Search space of layouts.
struct LayoutSpace {
  std::int64_t devices = 1;
  std::int64_t devices_per_node = 1;  ///< a layer is not divided beyond a node
  std::int64_t global_batch = 1;      ///< samples of all replicas per step
  bool plain_attention = true;        ///< true: attention scores are kept, and can be recomputed
  bool divides_sequences = true;      ///< true: runs can share their messages among devices with parts of a sequence
  spec::Sharding most_sharding = spec::Sharding::parameters;  ///< most sharding that can replace the workers' sums
  spec::ParallelismSpec base;                                 ///< values of the attributes that are not searched
  /// Attributes of <timed-as> that are not searched, with their values as they are printed.
  std::vector<std::pair<std::string, std::string>> fixed;

  bool holds(const report::Layout& layout) const;  ///< true if fixed values with an effect match
};

/// Returns every layout of the network that divides evenly. Devices form replicas of tensor × context × pipeline; the
/// global batch is divided among replicas, and their batches into micro-batches. Heads and widths are divided among
/// `tensor` devices, sequences among `context` (powers of two), experts among devices of a stage. Blocks are divided
/// among stages so that no stage has a sixth more than its share. Micro-batches are powers of two up to 32, or the
/// whole batch of a replica up to 32.
///
/// Stages of several pieces use 1F1B if micro-batches are a multiple of the stages (Narayanan et al., arXiv:2104.04473,
/// section 2.2.2), else all passes forward first (GPipe). With one piece, GPipe has the same bubble, keeps more, and is
/// left out. One piece also allows ZB-H1, two pieces DualPipeV.
///
/// States are sharded among all replicas, or among those of a node. With a pipeline only the optimizer is divided among
/// replicas: that exchanges as much as undivided sums and needs less memory, while ZeRO-2 and 3 would exchange with
/// every micro-batch. Blocks are computed again, or attention that keeps its scores, or with experts or latent vectors
/// the norms, activations of experts and products of latent vectors. If a layer is divided, norms are divided along the
/// sequence (arXiv:2205.05198). A fixed value is used even if it is none of these, as long as it divides evenly.
std::vector<report::Layout> layouts_of(const spec::ModelShape& shape, const LayoutSpace& space);

}  // namespace dadsim::study
