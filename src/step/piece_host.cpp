// What the host keeps: the optimizer's state, and what blocks leave with it from their pass forward until their pass
// back.
#include <algorithm>
#include <span>
#include <utility>

#include "spec/kept_activations.hpp"
#include "step/piece.hpp"

namespace dadsim::step {

/// The host updates: its processor goes through the same numbers, in its memory.
void Piece::offload_updates() {
  for (Task& task : full_.tasks) {
    auto* compute = std::get_if<ComputeTask>(&task.what);
    if (compute == nullptr || compute->phase != Phase::update) continue;
    compute->seconds = PerWorker(compute->bytes_moved[0] / how_.host_rate);  // all have as many parameters
    compute->flops = compute->bytes_moved = compute->launches = PerWorker();
  }
}

/// Gradients on their way to the host before it updates, and parameters on their way back.
void Piece::add_transfer(const std::string& what, Schedule& out, std::int32_t stage) const {
  if (!how_.offloads_optimizer()) return;
  double bytes = 0;
  for (const Unit& unit : units_) {
    const bool divided = sharded(spec::Sharding::optimizer);
    bytes += unit.learned / (divided ? sharers_ : 1) + unit.learned_experts / (divided ? copies_ : 1);
  }
  ComputeTask transfer;
  transfer.phase = Phase::update;
  transfer.seconds = PerWorker(bytes / how_.offload_rate);
  out.tasks.push_back({what, std::move(transfer), stage});
}

/// All that blocks keep, but for the last block of the network: its pass back comes next.
void Piece::measure_activations() {
  const spec::KeptActivations kept(full_.precision, how_);
  const std::vector<spec::LayerRange> blocks = spec::blocks_of(device_);
  std::size_t end = 0;
  for (const spec::LayerRange& block : blocks) {
    if (spec::repeats(block)) end = block.end;
  }
  for (const spec::LayerRange& block : blocks) {
    if (!spec::repeats(block) || block.end == end || !layers_.holds(block.first)) continue;
    const auto layers = std::span(device_.layers).subspan(block.first, block.end - block.first);
    units_[unit_of_[block.first - layers_.first]].activations = samples_ * kept.of_block(layers);
  }
}

/// Forward the block before leaves its own; on the way back a block waits for its own, and those of the next one begin
/// to come.
void Piece::enter_block(std::size_t unit, Schedule& out, std::int32_t stage) {
  if (unit == at_) return;
  if (forward_) leave_block(out, stage);
  at_ = unit;
  if (forward_) return;
  if (units_[unit].activations > 0) {
    bring_back_before(unit + 1, out, stage);
    add_copy(units_[unit], HostCopy::wait_from_host, out, stage);
  }
  bring_back_before(unit, out, stage);
}

/// It begins once those of the block before have gone: those of two blocks are on the device at a time.
void Piece::leave_block(Schedule& out, std::int32_t stage) const {
  if (at_ == kNone || units_[at_].activations == 0) return;
  add_copy(units_[at_], HostCopy::wait_to_host, out, stage);
  add_copy(units_[at_], HostCopy::to_host, out, stage);
}

void Piece::begin_return(Schedule& out, std::int32_t stage) {
  brought_back_ = units_.size();
  bring_back_before(units_.size(), out, stage);
}

/// Of the last unit before `unit` that has any, if they are not coming already.
void Piece::bring_back_before(std::size_t unit, Schedule& out, std::int32_t stage) {
  while (unit > 0 && units_[unit - 1].activations == 0) --unit;
  if (unit == 0 || unit - 1 >= brought_back_) return;
  brought_back_ = unit - 1;
  add_copy(units_[brought_back_], HostCopy::from_host, out, stage);
}

void Piece::add_copy(const Unit& unit, HostCopy copy, Schedule& out, std::int32_t stage) const {
  const bool leaves = copy == HostCopy::to_host || copy == HostCopy::wait_to_host;
  ComputeTask task;
  task.phase = leaves ? Phase::forward : Phase::backpropagate;
  task.kind = spec::LayerKind::element_wise;
  task.copy = copy;
  if (copy == HostCopy::to_host || copy == HostCopy::from_host) {
    task.copied = unit.activations;
    task.seconds = PerWorker(unit.activations / how_.offload_rate);
  }
  out.tasks.push_back(
      {unit.name + (leaves ? "activations to the host" : "activations from the host"), std::move(task), stage});
}

}  // namespace dadsim::step
