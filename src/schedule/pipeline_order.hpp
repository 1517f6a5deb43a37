#pragma once

#include <cstdint>
#include <vector>

#include "spec/parallelism.hpp"

namespace dadsim::schedule {

/// Kind of a pass.
enum class PassKind : std::uint8_t {
  forward,
  backward,  ///< gradients of inputs, then of weights
  inputs,    ///< gradients of inputs, for which the previous piece waits
  weights,   ///< gradients of weights, needed only at the end of the step
};

/// One pass of one micro-batch through one piece of the network; piece 0 has the first layers.
/// spec::ParallelismSpec::stage_of() gives the stage of a piece.
struct PipelinePass {
  PassKind kind = PassKind::forward;
  std::int32_t piece = 0;
  std::int64_t micro_batch = 0;
  bool forward() const { return kind == PassKind::forward; }
  bool operator==(const PipelinePass&) const = default;
};

/// Returns each stage's passes in order: every micro-batch passes forward and backward through every piece once.
///   gpipe: all forward passes, then all backward passes, each micro-batch by micro-batch.
///   one_f_one_b: stage s begins with min(S − s − 1, M) forward passes, then alternates one forward and one backward
///     pass (Narayanan et al., SC 2021, arXiv:2104.04473, section 2.2.1).
///   With V > 1 pieces in 1F1B (interleaved, section 2.2.2): pieces take turns of S micro-batches, and stage s begins
///     with min(2 (S − s − 1) + (V − 1) S, M V) forward passes.
///   zero_bubble: one_f_one_b in which gradients of weights of the first s micro-batches of stage s, and of the last
///     ones, are deferred to the end, where the stage would otherwise be idle (ZB-H1, as the authors schedule it in
///     github.com/sail-sg/zero-bubble-pipeline-parallelism, quick start). Stages hold S micro-batches at a time.
///   dualpipe_v: two pieces per stage, s and 2 S − 1 − s, which alternate micro-batch by micro-batch. Gradients of
///     weights are deferred while the pipeline fills and drains (github.com/deepseek-ai/DualPipe, dualpipev.py). Stages
///     hold 2 S + 1 pieces of micro-batches at a time.
/// Throws std::invalid_argument for a count below 1; in 1F1B with several pieces, if M is not a multiple of S; in
/// zero_bubble for several pieces; in dualpipe_v for other than two pieces, or fewer than 2 S micro-batches.
std::vector<std::vector<PipelinePass>> pipeline_order(spec::PipelineOrder order, std::int32_t stages,
                                                      std::int32_t pieces, std::int64_t micro_batches);

}  // namespace dadsim::schedule
