#include "sim/step/requests.hpp"

#include <algorithm>

namespace dadsim::sim {

Request request_of(const step::CollectiveTask& task, const collectives::RankLayout& workers) {
  Request request;
  request.collective.kind = task.kind;
  request.layout = workers;
  request.algorithm = task.algorithm;
  const auto count = static_cast<std::size_t>(workers.ranks());
  const bool star = is_star(task.kind);
  if (star) {
    request.algorithm = "flat";
    request.collective.root = workers.ranks();
    request.layout.node_of.push_back(
        workers.node_of.empty() ? 0 : *std::max_element(workers.node_of.begin(), workers.node_of.end()) + 1);
  }
  if (task.neighbours != nullptr) request.collective.neighbours = task.neighbours->to;
  const bool one_value = task.kind == step::CollectiveKind::broadcast || task.kind == step::CollectiveKind::all_reduce;
  bool equal = true;
  for (std::size_t worker = 1; !one_value && worker < count; ++worker)
    equal = equal && task.bytes[worker] == task.bytes[0];
  if (one_value || equal) {
    request.collective.bytes = {task.bytes[0]};
  } else {
    for (std::size_t worker = 0; worker < count; ++worker) request.collective.bytes.push_back(task.bytes[worker]);
    if (star) request.collective.bytes.push_back(0);  // the aggregator's own
  }
  return request;
}

}  // namespace dadsim::sim
