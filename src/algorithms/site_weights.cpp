#include "algorithms/site_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace dadsim::algorithms {
namespace {

std::vector<double> shares_of(std::vector<double> amounts) {
  const double all = std::accumulate(amounts.begin(), amounts.end(), 0.0);
  for (double& amount : amounts) amount /= all;
  return amounts;
}

}  // namespace

std::vector<double> site_shares(spec::SiteWeights weights, const models::Partition& partition) {
  if (weights == spec::SiteWeights::published) throw std::logic_error("published weights are set by the method");
  std::vector<double> amounts;
  for (const auto& site : partition) {
    amounts.push_back(weights == spec::SiteWeights::uniform ? 1.0 : static_cast<double>(site.size()));
  }
  return shares_of(std::move(amounts));
}

std::vector<float> site_factors(spec::SiteWeights weights, const spec::TrainingSpec& training,
                                const models::Partition& partition) {
  if (weights == spec::SiteWeights::published) return {};
  std::vector<double> rows;
  for (const auto& site : partition) {
    const auto samples = static_cast<double>(site.size());
    rows.push_back(training.batches == spec::TrainingSpec::Batches::equal
                       ? std::min(static_cast<double>(training.batch), samples)
                       : samples);
  }
  const std::vector<double> wanted = site_shares(weights, partition);
  const std::vector<double> taken = shares_of(std::move(rows));
  std::vector<float> factors;
  bool all_one = true;
  for (std::size_t site = 0; site < wanted.size(); ++site) {
    constexpr double kRounding = 1e-12;
    const double factor = wanted[site] / taken[site];
    all_one = all_one && std::abs(factor - 1) < kRounding;
    factors.push_back(static_cast<float>(factor));
  }
  return all_one ? std::vector<float>() : factors;
}

}  // namespace dadsim::algorithms
