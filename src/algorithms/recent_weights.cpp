#include "algorithms/recent_weights.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace dadsim::algorithms {

std::int64_t bytes_of(const models::ParametersOf<float>& parameters) {
  std::int64_t bytes = 0;
  for (const auto& matrix : parameters.matrices)
    bytes += static_cast<std::int64_t>(sizeof(float)) * (matrix.weight.size() + matrix.bias.size());
  for (const auto& vector : parameters.vectors) bytes += static_cast<std::int64_t>(sizeof(float)) * vector.size();
  for (const auto& average : parameters.averages) bytes += static_cast<std::int64_t>(sizeof(double)) * average.size();
  return bytes;
}

std::int64_t RecentWeights::most_copies(double bytes) {
  constexpr double kMost = 15;
  constexpr double kMostBytes = 128.0 * (1 << 20);
  return static_cast<std::int64_t>(std::min(kMost, std::floor(kMostBytes / std::max(1.0, bytes))));
}

RecentWeights::RecentWeights(std::vector<double> targets, std::int64_t every, const Networks& networks)
    : ahead_(std::move(targets)), every_(every) {
  std::int64_t bytes = 0;
  for (const models::Network* network : networks) bytes += bytes_of(network->parameters());
  const std::int64_t parts = std::min(every, most_copies(static_cast<double>(bytes)) + 1);
  if (parts > 1) spacing_ = (every + parts - 1) / parts;
}

void RecentWeights::keep(std::int64_t done, const Networks& networks) {
  KeptWeights copy{.step = done, .parameters = {}};
  for (const models::Network* network : networks) copy.parameters.push_back(network->parameters());
  kept_.push_back(std::move(copy));
}

void RecentWeights::add_to(std::vector<step::Evaluation>& curve, step::Evaluation reached, const Networks& networks,
                           const Evaluate& evaluate) {
  std::vector<models::Network> then;
  std::map<std::size_t, step::Evaluation> found;  // by index into kept_
  const auto at = [&](std::size_t index) -> const step::Evaluation& {
    if (const auto known = found.find(index); known != found.end()) return known->second;
    if (then.empty()) {
      for (const models::Network* network : networks) then.push_back(*network);
    }
    Networks all;
    for (std::size_t i = 0; i < then.size(); ++i) {
      then[i].parameters() = kept_[index].parameters[i];
      all.push_back(&then[i]);
    }
    return found.emplace(index, evaluate(kept_[index].step, all)).first->second;
  };
  for (const double target : ahead_) {
    if (!(reached.accuracy >= target)) continue;
    // Finds the first copy that meets the target: copies before `low` do not, and copies from `high` on do.
    std::size_t low = 0;
    std::size_t high = kept_.size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (at(middle).accuracy >= target) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
  }
  for (auto& [index, evaluation] : found) curve.push_back(std::move(evaluation));
  std::erase_if(ahead_, [&](double target) { return reached.accuracy >= target; });
  curve.push_back(std::move(reached));
  kept_.clear();
}

}  // namespace dadsim::algorithms
