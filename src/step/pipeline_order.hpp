#pragma once

#include <cstdint>
#include <vector>

#include "spec/parallelism.hpp"

namespace dadsim::step {

/// One pass of one micro-batch through one piece of the network. With S stages of V pieces each, piece c is at stage
/// c mod S: piece 0 has the first layers.
struct Pass {
  bool forward = true;
  std::int32_t piece = 0;
  std::int64_t micro_batch = 0;
  bool operator==(const Pass&) const = default;
};

/// What each stage works on, in its order: every micro-batch passes forward and backward through every piece once.
///   gpipe: all forward passes, then all backward passes, each micro-batch by micro-batch.
///   one_f_one_b: stage s begins with min(S − s − 1, M) forward passes and goes on with one forward and one backward in
///     turn (Narayanan et al., SC 2021, arXiv:2104.04473, section 2.2.1).
///   With V > 1 pieces in 1F1B (section 2.2.2 there): S micro-batches pass through a piece before the next piece has
///     its turn, and stage s begins with min(2 (S − s − 1) + (V − 1) S, M V) forward passes.
/// Throws std::invalid_argument where M is no multiple of S with several pieces in 1F1B, or a count is below 1.
std::vector<std::vector<Pass>> pipeline_order(spec::PipelineOrder order, std::int32_t stages, std::int32_t pieces,
                                              std::int64_t micro_batches);

}  // namespace dadsim::step
