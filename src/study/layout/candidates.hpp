#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/layout/layout_report.hpp"
#include "spec/layer_shape.hpp"

namespace dadsim::study {

/// A layout that may be simulated.
struct LayoutCandidate {
  report::Layout layout;
  report::StepParts estimate;  ///< by the closed form
  double bytes = 0;            ///< on the device that needs most
  bool simulated = false;
};

/// What layouts are looked for.
struct LayoutSpace {
  std::int64_t devices = 1;
  std::int64_t devices_per_node = 1;  ///< a layer is not divided beyond a node
  std::int64_t global_batch = 1;      ///< samples of all replicas per step
  bool plain_attention = true;        ///< its scores are kept, and can be computed again
  bool divides_sequences = true;      ///< devices that have parts of them can share what workers share
  spec::Sharding most_sharding = spec::Sharding::parameters;  ///< that takes the place of what workers share
  spec::ParallelismSpec base;                                 ///< what is not searched is as here
  /// Attributes of <timed-as> that are not searched, with their values as they are printed.
  std::vector<std::pair<std::string, std::string>> fixed;

  bool holds(const report::Layout& layout) const;  ///< has all that is fixed, where it has an effect
};

/// Every layout of the network that divides evenly: devices into replicas of tensor × context × pipeline, the global
/// batch among replicas, their batches into micro-batches, heads and widths among `tensor` devices, sequences among
/// `context` (powers of two), experts among devices of a stage, and blocks among stages so that no stage has a sixth
/// more than its share. Micro-batches are powers of two up to 32, or the whole batch of a replica up to that. Stages of
/// several pieces have 1F1B where micro-batches are a multiple of the stages (Narayanan et al., arXiv:2104.04473,
/// section 2.2.2), and else all passes forward first (GPipe); of one piece the latter has the same bubble and keeps
/// more, and is not among them. Of one piece there is ZB-H1 too, and of two DualPipeV. What is sharded is so among all
/// replicas, or among those of a node. Behind a pipeline the optimizer is divided among replicas, and nothing else:
/// that exchanges as much as undivided sums and needs less memory, and ZeRO-2 and 3 would exchange with every
/// micro-batch. Where a layer is divided, norms are divided along the sequence (arXiv:2205.05198). A value that is
/// fixed is taken though it is none of these, as long as it divides evenly.
std::vector<report::Layout> layouts_of(const spec::ModelShape& shape, const LayoutSpace& space);

}  // namespace dadsim::study
