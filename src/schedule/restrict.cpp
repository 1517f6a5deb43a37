#include "schedule/restrict.hpp"

#include <algorithm>
#include <memory>

namespace dadsim::schedule {
namespace {

PerWorker some_of(const PerWorker& values, const std::vector<std::int32_t>& replicas) {
  if (values.is_uniform()) return values;
  std::vector<double> some;
  for (const std::int32_t replica : replicas) some.push_back(values[static_cast<std::size_t>(replica)]);
  return PerWorker(some);
}

std::shared_ptr<const step::Neighbours> some_of(const step::Neighbours& graph,
                                                const std::vector<std::int32_t>& replicas) {
  auto some = std::make_shared<step::Neighbours>();
  for (const std::int32_t from : replicas) {
    std::vector<std::int32_t>& to = some->to.emplace_back();
    for (const std::int32_t receiver : graph.to.at(static_cast<std::size_t>(from))) {
      const auto place = std::ranges::lower_bound(replicas, receiver);
      if (place != replicas.end() && *place == receiver) {
        to.push_back(static_cast<std::int32_t>(place - replicas.begin()));
      }
    }
  }
  return some;
}

}  // namespace

Schedule restricted(const Schedule& schedule, const std::vector<std::int32_t>& replicas) {
  Schedule some = schedule;
  some.workers = schedule.workers / schedule.replicas() * replicas.size();
  for (Task& task : some.tasks) {
    if (auto* compute = std::get_if<ComputeTask>(&task.what);
        compute != nullptr && compute->who == step::Role::workers) {
      for (PerWorker* values : {&compute->flops, &compute->bytes_moved, &compute->launches, &compute->seconds}) {
        *values = some_of(*values, replicas);
      }
    }
    if (auto* collective = std::get_if<CollectiveTask>(&task.what)) {
      if (collective->kind != step::CollectiveKind::broadcast) collective->bytes = some_of(collective->bytes, replicas);
      if (collective->neighbours != nullptr) collective->neighbours = some_of(*collective->neighbours, replicas);
    }
  }
  return some;
}

}  // namespace dadsim::schedule
