#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>

#include "schedule/schedule.hpp"

namespace dadsim::schedule {

PerWorker::PerWorker(const std::vector<double>& values) {
  if (values.empty()) throw std::invalid_argument("no values");
  value_ = values.front();
  if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end())
    values_ = std::make_shared<const std::vector<double>>(values);
}

bool PerWorker::operator==(const PerWorker& other) const {
  return value_ == other.value_ && is_uniform() == other.is_uniform() && (is_uniform() || *values_ == *other.values_);
}

bool CollectiveTask::operator==(const CollectiveTask& other) const {
  return kind == other.kind && bytes == other.bytes && algorithm == other.algorithm &&
         step::same_graph(neighbours, other.neighbours) && among == other.among && to_stage == other.to_stage;
}

PerWorker PerWorker::scaled(double factor) const {
  PerWorker result = *this;
  result.value_ *= factor;
  if (is_uniform()) return result;
  std::vector<double> values = *values_;
  for (double& value : values) value *= factor;
  result.values_ = std::make_shared<const std::vector<double>>(std::move(values));
  return result;
}

PerWorker PerWorker::plus(const PerWorker& other) const {
  if (is_uniform() && other.is_uniform()) {
    PerWorker sum;
    sum.value_ = value_ + other.value_;
    return sum;
  }
  std::vector<double> sums = is_uniform() ? *other.values_ : *values_;
  const PerWorker& beside = is_uniform() ? *this : other;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += beside[i];
  return PerWorker(sums);
}

bool has_barrier(const Schedule& schedule) {
  bool exchanges = false;
  for (const Task& task : schedule.tasks) {
    const auto* collective = std::get_if<CollectiveTask>(&task.what);
    if (collective == nullptr || collective->among != Among::replicas) continue;
    if (collective->kind != step::CollectiveKind::neighbour_exchange) return true;
    exchanges = true;
  }
  return !exchanges;
}

Schedule repeated(const Schedule& schedule, std::size_t count) {
  Schedule result = schedule;
  result.tasks.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = static_cast<std::int32_t>(result.tasks.size());
    for (Task task : schedule.tasks) {
      if (auto* wait = std::get_if<WaitTask>(&task.what)) wait->collective += first;
      result.tasks.push_back(std::move(task));
    }
  }
  return result;
}

std::size_t layer_at_same_depth(std::size_t timed, std::size_t timed_layers, std::size_t learned_layers) {
  if (timed >= timed_layers || learned_layers == 0) throw std::invalid_argument("no such layer");
  if (timed_layers == 1) return learned_layers - 1;
  const double depth = static_cast<double>(timed) / static_cast<double>(timed_layers - 1);
  return static_cast<std::size_t>(std::lround(depth * static_cast<double>(learned_layers - 1)));
}

}  // namespace dadsim::schedule
