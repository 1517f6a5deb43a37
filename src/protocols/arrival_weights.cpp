#include "protocols/arrival_weights.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/site_weights.hpp"

namespace dadsim::protocols {

ArrivalWeights::ArrivalWeights(spec::SiteWeights weights, const models::Partition& partition)
    : counted_(partition.size(), 1.0) {
  if (weights != spec::SiteWeights::published) shares_ = algorithms::site_shares(weights, partition);
}

double ArrivalWeights::weight(std::size_t site) const {
  const double all = std::accumulate(counted_.begin(), counted_.end(), 0.0);
  return shares_.at(site) / (counted_.at(site) / all);
}

double ArrivalWeights::take(std::size_t site, double damping) {
  if (shares_.empty()) return 1;
  const double own = weight(site);
  counted_[site] += damping;
  return own;
}

double ArrivalWeights::take_of_most(std::size_t site, double damping) {
  if (shares_.empty()) return 1;
  double most = 0;
  for (std::size_t other = 0; other < shares_.size(); ++other) most = std::max(most, weight(other));
  return take(site, damping) / most;
}

}  // namespace dadsim::protocols
