#include "step/step_recorder.hpp"

#include <algorithm>
#include <stdexcept>

namespace dadsim::step {

void StepRecorder::begin(std::vector<std::int32_t> samples) {
  structure_ = {};
  sizes_ = {std::move(samples), {}, {}};
  next_serial_ = 0;
  alternatives_ = 0;
}

void StepRecorder::begin_sweep(Over over, bool embeddings, std::int32_t stage) {
  structure_.sweeps.push_back({over, {}, embeddings, stage});
}

void StepRecorder::begin_group(std::int32_t layer) {
  if (structure_.sweeps.empty()) throw std::logic_error("a group outside a sweep");
  structure_.sweeps.back().groups.push_back({layer, {}});
  alternatives_ = 0;
}

std::int32_t StepRecorder::layer() const {
  if (structure_.sweeps.empty() || structure_.sweeps.back().groups.empty()) throw std::logic_error("no group is open");
  return structure_.sweeps.back().groups.back().layer;
}

Over StepRecorder::over() const { return structure_.sweeps.back().over; }

bool StepRecorder::over_embeddings() const { return structure_.sweeps.back().embeddings; }

std::int32_t StepRecorder::add(decltype(Op::what) what) {
  if (structure_.sweeps.empty() || structure_.sweeps.back().groups.empty())
    throw std::logic_error("an op needs an open group");
  structure_.sweeps.back().groups.back().ops.push_back({next_serial_, std::move(what), alternatives_});
  return next_serial_++;
}

std::int32_t StepRecorder::add_slot(std::vector<std::int32_t> numbers) {
  sizes_.slots.push_back(std::move(numbers));
  return static_cast<std::int32_t>(sizes_.slots.size()) - 1;
}

std::int32_t StepRecorder::add_earlier(std::vector<std::int32_t> samples) {
  sizes_.earlier.push_back(std::move(samples));
  return static_cast<std::int32_t>(sizes_.earlier.size()) - 1;
}

void StepRecorder::append(const StepStructure& structure) {
  const std::int32_t first = next_serial_;
  for (Sweep sweep : structure.sweeps) {
    for (Group& group : sweep.groups) {
      for (Op& op : group.ops) {
        op.serial += first;
        next_serial_ = std::max(next_serial_, op.serial + 1);
        if (auto* wait = std::get_if<WaitOp>(&op.what)) wait->collective += first;
      }
    }
    structure_.sweeps.push_back(std::move(sweep));
  }
}

std::pair<StepStructure, StepSizes> StepRecorder::take() { return {std::move(structure_), std::move(sizes_)}; }

}  // namespace dadsim::step
