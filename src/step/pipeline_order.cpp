#include "step/pipeline_order.hpp"

#include <algorithm>
#include <stdexcept>

namespace dadsim::step {
namespace {

/// The k-th pass of a stage in one direction, where each piece has its turn with as many micro-batches as there are
/// stages.
Pass in_turns(bool forward, std::int64_t k, std::int32_t stage, std::int32_t stages, std::int32_t pieces) {
  const auto own = static_cast<std::int32_t>(k / stages % pieces);
  const std::int32_t turn = forward ? own : pieces - 1 - own;
  return {forward, turn * stages + stage, k / (std::int64_t{stages} * pieces) * stages + k % stages};
}

}  // namespace

std::vector<std::vector<Pass>> pipeline_order(spec::PipelineOrder order, std::int32_t stages, std::int32_t pieces,
                                              std::int64_t micro_batches) {
  if (stages < 1 || pieces < 1 || micro_batches < 1) throw std::invalid_argument("a pipeline of nothing");
  const bool in_pieces = pieces > 1 && order == spec::PipelineOrder::one_f_one_b;
  if (in_pieces && micro_batches % stages != 0) {
    throw std::invalid_argument("micro-batches that are no multiple of the stages, with several pieces to a stage");
  }
  std::vector<std::vector<Pass>> all(static_cast<std::size_t>(stages));
  const std::int64_t count = micro_batches * pieces;
  for (std::int32_t stage = 0; stage < stages; ++stage) {
    std::vector<Pass>& own = all[static_cast<std::size_t>(stage)];
    const auto pass = [&](bool forward, std::int64_t k) {
      if (in_pieces) return in_turns(forward, k, stage, stages, pieces);
      const auto turn = static_cast<std::int32_t>(k / micro_batches);
      return Pass{forward, (forward ? turn : pieces - 1 - turn) * stages + stage, k % micro_batches};
    };
    std::int64_t ahead = count;
    if (in_pieces) {
      ahead = std::min<std::int64_t>(2 * (stages - stage - 1) + (pieces - 1) * stages, count);
    } else if (order == spec::PipelineOrder::one_f_one_b) {
      ahead = std::min<std::int64_t>(stages - stage - 1, count);
    }
    for (std::int64_t k = 0; k < ahead; ++k) own.push_back(pass(true, k));
    for (std::int64_t k = ahead; k < count; ++k) {
      own.push_back(pass(true, k));
      own.push_back(pass(false, k - ahead));
    }
    for (std::int64_t k = count - ahead; k < count; ++k) own.push_back(pass(false, k));
  }
  return all;
}

}  // namespace dadsim::step
