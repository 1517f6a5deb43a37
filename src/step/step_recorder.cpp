#include "step/step_recorder.hpp"

#include <stdexcept>

namespace dadsim::step {

void StepRecorder::begin(std::vector<std::int32_t> samples) {
  structure_ = {};
  sizes_ = {std::move(samples), {}};
  next_serial_ = 0;
}

void StepRecorder::begin_sweep(Over over, bool embeddings) { structure_.sweeps.push_back({over, {}, embeddings}); }

void StepRecorder::begin_group(std::int32_t layer) {
  if (structure_.sweeps.empty()) throw std::logic_error("a group outside a sweep");
  structure_.sweeps.back().groups.push_back({layer, {}});
}

std::int32_t StepRecorder::layer() const {
  if (structure_.sweeps.empty() || structure_.sweeps.back().groups.empty()) throw std::logic_error("no group is open");
  return structure_.sweeps.back().groups.back().layer;
}

bool StepRecorder::over_embeddings() const { return structure_.sweeps.back().embeddings; }

std::int32_t StepRecorder::add(decltype(Op::what) what) {
  if (structure_.sweeps.empty() || structure_.sweeps.back().groups.empty())
    throw std::logic_error("an op outside a group");
  structure_.sweeps.back().groups.back().ops.push_back({next_serial_, std::move(what)});
  return next_serial_++;
}

std::int32_t StepRecorder::add_ranks(std::vector<std::int32_t> ranks) {
  sizes_.ranks.push_back(std::move(ranks));
  return static_cast<std::int32_t>(sizes_.ranks.size()) - 1;
}

std::pair<StepStructure, StepSizes> StepRecorder::take() { return {std::move(structure_), std::move(sizes_)}; }

}  // namespace dadsim::step
