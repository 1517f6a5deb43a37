#pragma once

#include <cstddef>
#include <vector>

#include "models/data/dataset.hpp"
#include "spec/specification.hpp"

namespace dadsim::protocols {

/// Weights of contributions in the order of their arrival. Without a correction, faster sites count more, and stale
/// contributions count less. If a run states the sites' weights p_s, each contribution gets the weight p_s ÷ a_s. a_s
/// is the site's share of all contributions so far, so that over time site s counts p_s, whatever its speed.
class ArrivalWeights {
 public:
  ArrivalWeights(spec::SiteWeights weights, const models::Partition& partition);

  /// Returns the weight of a site's contribution, and counts it as `damping` contributions (less than 1 if stale). Each
  /// site starts with one counted contribution, which keeps its first weight finite. Returns 1 if the run states no
  /// weights.
  double take(std::size_t site, double damping = 1);
  /// Counts the contribution as take() does. Returns its weight divided by the largest weight of any site at present:
  /// at most 1.
  double take_of_most(std::size_t site, double damping = 1);

 private:
  double weight(std::size_t site) const;

  std::vector<double> shares_;  ///< p_s, per site; empty: every contribution has the weight 1
  std::vector<double> counted_;
};

}  // namespace dadsim::protocols
