#include "algorithms/gossip/sites_evaluation.hpp"

#include <utility>

#include "models/metrics.hpp"

namespace dadsim::algorithms {
namespace {

/// Calls `body(of_average, of_sites)` for all learned parameters, matrix by matrix and vector by vector.
template <class Body>
void for_all_learned(models::Network& average, const std::vector<const models::Network*>& networks, const Body& body) {
  models::ParametersOf<float>& to = average.parameters();
  for (std::size_t m = 0; m < to.matrices.size(); ++m) {
    body(
        to.matrices[m].weight, [&](std::size_t i) -> const auto& { return networks[i]->layer(m).weight; });
    body(
        to.matrices[m].bias, [&](std::size_t i) -> const auto& { return networks[i]->layer(m).bias; });
  }
  for (std::size_t v = 0; v < to.vectors.size(); ++v) {
    body(
        to.vectors[v], [&](std::size_t i) -> const auto& { return networks[i]->parameters().vectors[v]; });
  }
}

}  // namespace

step::SitesEvaluation evaluate_sites(const std::vector<const models::Network*>& networks,
                                     std::vector<double> accuracies, const models::Samples& test) {
  const auto count = static_cast<double>(networks.size());
  models::Network average = *networks.front();
  step::SitesEvaluation result;
  for_all_learned(average, networks, [&](auto& mean, const auto& of) {
    if (mean.size() == 0) return;
    auto sum = of(0).template cast<double>().eval();
    for (std::size_t i = 1; i < networks.size(); ++i) sum += of(i).template cast<double>();
    sum /= count;
    for (std::size_t i = 0; i < networks.size(); ++i) {
      result.consensus_distance += (of(i).template cast<double>() - sum).squaredNorm() / count;
    }
    mean = sum.template cast<float>();
  });
  // Averages running statistics of norms like the weights. They are tracked, not learned, and are no part of the
  // distance.
  for (std::size_t a = 0; a < average.parameters().averages.size(); ++a) {
    auto& mean = average.parameters().averages[a];
    for (std::size_t i = 1; i < networks.size(); ++i) mean += networks[i]->parameters().averages[a];
    mean /= count;
  }
  const models::Quality quality = models::evaluate(average, test);
  result.average_loss = quality.loss;
  result.average_accuracy = quality.accuracy;
  result.accuracies = std::move(accuracies);
  return result;
}

}  // namespace dadsim::algorithms
