#include "algorithms/pieces/followed_sites.hpp"

namespace dadsim::algorithms {

void FollowedSites::add_gradients(TrainingStep& step, std::size_t l) {
  if (!known_ || step.is_embedding(l)) return;
  if (!step.exchange().follows_parts() || step.sites_change()) {
    known_ = false;
    of_sites_.clear();
    return;
  }
  const models::WeightsOf<float>& weights = step.weights(l);
  of_sites_.resize(step.sites());
  for (std::size_t site = 0; site < step.sites(); ++site) {
    if (!step.exchange().looks_at(site)) continue;
    if (of_sites_[site].size() == 0) of_sites_[site] = models::Matrix::Zero(weights.out(), weights.in());
    if (step.samples(site) == 0) continue;
    of_sites_[site].noalias() += step.delta(site, l).transpose() * step.input(site, l);
  }
}

void FollowedSites::take_off(const TrainingStep& step, const models::Matrix& applied) {
  if (!known()) return;
  Eigen::Index all = 0;
  for (std::size_t site = 0; site < step.sites(); ++site) all += step.samples(site);
  for (std::size_t site = 0; site < step.sites(); ++site) {
    if (of_sites_[site].size() == 0) continue;
    of_sites_[site] -= (static_cast<float>(step.samples(site)) / static_cast<float>(all)) * applied;
  }
}

models::Matrix beside_of_site(const TrainingStep& step, std::size_t l, std::size_t site, bool with_weights) {
  const models::WeightsOf<float>& weights = step.weights(l);
  const Eigen::Index biases = weights.bias.size();
  models::Matrix column = models::Matrix::Zero(biases + (with_weights ? weights.weight.size() : 0), 1);
  if (step.samples(site) == 0 || step.is_embedding(l)) return column;
  const models::ConstBlock delta = step.delta(site, l);
  if (biases > 0) column.topRows(biases) = delta.colwise().sum().transpose();
  if (with_weights) {
    const models::Matrix gradient = delta.transpose() * step.input(site, l);
    column.bottomRows(gradient.size()) = gradient.reshaped<Eigen::RowMajor>();
  }
  return column;
}

}  // namespace dadsim::algorithms
