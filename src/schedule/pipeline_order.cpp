#include "schedule/pipeline_order.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace dadsim::schedule {
namespace {

using spec::PipelineOrder;
using Passes = std::vector<PipelinePass>;

/// Returns the k-th pass of a stage in one direction. Pieces take turns, with as many micro-batches per turn as there
/// are stages.
PipelinePass in_turns(PassKind kind, std::int64_t k, std::int32_t stage, std::int32_t stages, std::int32_t pieces) {
  const auto own = static_cast<std::int32_t>(k / stages % pieces);
  const std::int32_t turn = kind == PassKind::forward ? own : pieces - 1 - own;
  return {kind, turn * stages + stage, k / (std::int64_t{stages} * pieces) * stages + k % stages};
}

/// Returns the passes of a stage with undivided backward passes: in 1F1B and GPipe.
Passes in_whole_passes(PipelineOrder order, std::int32_t stage, std::int32_t stages, std::int32_t pieces,
                       std::int64_t micro_batches) {
  const bool in_pieces = pieces > 1 && order == PipelineOrder::one_f_one_b;
  const std::int64_t count = micro_batches * pieces;
  const auto pass = [&](PassKind kind, std::int64_t k) {
    if (in_pieces) return in_turns(kind, k, stage, stages, pieces);
    const auto turn = static_cast<std::int32_t>(k / micro_batches);
    return PipelinePass{kind, (kind == PassKind::forward ? turn : pieces - 1 - turn) * stages + stage,
                        k % micro_batches};
  };
  std::int64_t ahead = count;
  if (in_pieces) {
    ahead = std::min<std::int64_t>(2 * (stages - stage - 1) + (pieces - 1) * stages, count);
  } else if (order == PipelineOrder::one_f_one_b) {
    ahead = std::min<std::int64_t>(stages - stage - 1, count);
  }
  Passes own;
  for (std::int64_t k = 0; k < ahead; ++k) own.push_back(pass(PassKind::forward, k));
  for (std::int64_t k = ahead; k < count; ++k) {
    own.push_back(pass(PassKind::forward, k));
    own.push_back(pass(PassKind::backward, k - ahead));
  }
  for (std::int64_t k = count - ahead; k < count; ++k) own.push_back(pass(PassKind::backward, k));
  return own;
}

/// Collects the passes of a stage. Passes for weight gradients may be deferred: first in, first out.
class WaitingPass {
 public:
  void forward(std::int32_t piece, std::int64_t micro_batch) {
    passes_.push_back({PassKind::forward, piece, micro_batch});
  }
  void backward(std::int32_t piece, std::int64_t micro_batch, bool waits) {
    passes_.push_back({waits ? PassKind::inputs : PassKind::backward, piece, micro_batch});
    if (waits) waiting_.push_back({PassKind::weights, piece, micro_batch});
  }
  void weights() {
    passes_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  Passes finish() {
    while (!waiting_.empty()) weights();
    return std::move(passes_);
  }

 private:
  Passes passes_;
  std::deque<PipelinePass> waiting_;
};

Passes zero_bubble(std::int32_t stage, std::int32_t stages, std::int64_t micro_batches) {
  WaitingPass passes;
  const std::int64_t ahead = std::min<std::int64_t>(stages - stage - 1, micro_batches);
  const std::int64_t count = micro_batches - ahead;
  for (std::int64_t k = 0; k < ahead; ++k) passes.forward(stage, k);
  for (std::int64_t k = 0; k < count; ++k) {
    passes.forward(stage, ahead + k);
    passes.backward(stage, k, stage > 0 && (k < stage || k == count - 1));
  }
  for (std::int64_t k = count; k < micro_batches; ++k) {
    passes.backward(stage, k, stage > 0);
    if (stage > 0) passes.weights();
  }
  return passes.finish();
}

/// Returns the passes of DualPipeV (dualpipev.py), in the eight numbered steps of that file.
Passes dualpipe_v(std::int32_t stage, std::int32_t stages, std::int64_t micro_batches) {
  WaitingPass passes;
  const std::int32_t piece[] = {stage, 2 * stages - 1 - stage};
  std::int64_t there[] = {0, 0};
  std::int64_t back[] = {0, 0};
  const auto forward = [&](int which) { passes.forward(piece[which], there[which]++); };
  const auto backward = [&](int which, bool waits) { passes.backward(piece[which], back[which]++, waits); };
  const std::int32_t behind = stages - stage - 1;
  for (std::int32_t i = 0; i < 2 * behind; ++i) forward(0);  // 1
  for (std::int32_t i = 0; i <= stage; ++i) {                // 2
    forward(0);
    forward(1);
  }
  for (std::int32_t i = 0; i < behind; ++i) {  // 3
    backward(1, true);
    passes.weights();
    forward(1);
  }
  for (std::int64_t i = 0; i < micro_batches - 2 * stages + stage + 1; ++i) {  // 4
    forward(0);
    backward(1, false);
    forward(1);
    backward(0, false);
  }
  for (std::int32_t i = 0; i < behind; ++i) {  // 5
    backward(1, false);
    forward(1);
    backward(0, false);
  }
  const std::int32_t half = (stage + 1) / 2;
  for (std::int32_t i = 0; i <= stage; ++i) {  // 6
    backward(1, i > half || (i == half && stage % 2 == 1));
    backward(0, i >= half);
  }
  for (std::int32_t i = 0; i < behind; ++i) {  // 7
    passes.weights();
    backward(0, true);
  }
  return passes.finish();  // 8
}

}  // namespace

std::vector<Passes> pipeline_order(PipelineOrder order, std::int32_t stages, std::int32_t pieces,
                                   std::int64_t micro_batches) {
  if (stages < 1 || pieces < 1 || micro_batches < 1) throw std::invalid_argument("a pipeline of nothing");
  if (order == PipelineOrder::one_f_one_b && pieces > 1 && micro_batches % stages != 0) {
    throw std::invalid_argument(
        "several pieces per stage need a number of micro-batches that is a multiple of the number of stages");
  }
  if (order == PipelineOrder::zero_bubble && pieces > 1)
    throw std::invalid_argument("deferred weight gradients need one piece per stage");
  if (order == PipelineOrder::dualpipe_v && (pieces != 2 || micro_batches < 2 * stages))
    throw std::invalid_argument(
        "DualPipe-V needs two pieces per stage, and at least twice as many micro-batches as stages");
  std::vector<Passes> all;
  for (std::int32_t stage = 0; stage < stages; ++stage) {
    if (order == PipelineOrder::zero_bubble) {
      all.push_back(zero_bubble(stage, stages, micro_batches));
    } else if (order == PipelineOrder::dualpipe_v) {
      all.push_back(dualpipe_v(stage, stages, micro_batches));
    } else {
      all.push_back(in_whole_passes(order, stage, stages, pieces, micro_batches));
    }
  }
  return all;
}

}  // namespace dadsim::schedule
