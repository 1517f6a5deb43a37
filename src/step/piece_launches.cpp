// What the host launches of blocks with experts, where it waits in each of them for the device and is never ahead of
// it.
#include <utility>

#include "spec/expert_parallel.hpp"
#include "step/piece.hpp"

namespace dadsim::step {

void Piece::measure_launches() {
  for (std::size_t i = layers_.first; i < layers_.end; ++i) {
    const spec::LayerShape& own = device_.layers[i];
    if (own.expert_group > 1) units_[unit_of_[i - layers_.first]].launches = spec::seconds_of_launches(own.experts);
  }
}

/// A block takes as long as the device or as its host, whichever takes longer. Of what the host launches a third is of
/// the pass forward, a third of gradients of what came in and a third of gradients of weights; a block that is computed
/// again has its pass forward twice.
void Piece::begin_launches(std::size_t unit, Schedule& out, std::int32_t stage) {
  if (unit == launched_) return;
  end_launches(out, stage);
  if (units_[unit].launches == 0) return;
  double passes = forward_ || only_weights_ || only_inputs_ ? 1 : 2;
  if (!forward_ && !only_weights_ && how_.recomputation == spec::Recomputation::full) passes += 1;
  launched_ = unit;
  ComputeTask task;
  task.phase = forward_ ? Phase::forward : Phase::backpropagate;
  task.kind = spec::LayerKind::element_wise;
  task.copy = HostCopy::launch;
  task.seconds = PerWorker(units_[unit].launches * passes / 3);
  out.tasks.push_back({units_[unit].name + "launches", std::move(task), stage});
}

void Piece::end_launches(Schedule& out, std::int32_t stage) {
  if (std::exchange(launched_, kNone) == kNone) return;
  ComputeTask task;
  task.phase = forward_ ? Phase::forward : Phase::backpropagate;
  task.kind = spec::LayerKind::element_wise;
  task.copy = HostCopy::wait_launch;
  out.tasks.push_back({"launches", std::move(task), stage});
}

}  // namespace dadsim::step
