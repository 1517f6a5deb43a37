#pragma once

#include <cstddef>
#include <vector>

#include "models/data/dataset.hpp"
#include "spec/specification.hpp"

namespace dadsim::protocols {

/// Weights of contributions that are counted as they arrive. Without a correction, faster sites count more, and stale
/// contributions count less. If a run states the sites' weights p_s, each contribution has the weight p_s ÷ a_s, with
/// a_s the site's share of all weights so far. Over time the sites count Σ a_s (p_s ÷ a_s) = Σ p_s, whatever their
/// speed.
class ArrivalWeights {
 public:
  ArrivalWeights(spec::SiteWeights weights, const models::Partition& partition);

  /// Returns the weight of a contribution that counts for `damping` by its staleness, and records it. One contribution
  /// of each site is counted in advance, so that a site's first is not infinitely rare. Returns 1 if each contribution
  /// counts as it comes.
  double take(std::size_t site, double damping = 1);
  /// Returns the weight relative to the site whose contributions are worth most: at most 1.
  double take_of_most(std::size_t site, double damping = 1);

 private:
  double weight(std::size_t site) const;

  std::vector<double> shares_;  ///< p_s, per site; empty: every contribution has the weight 1
  std::vector<double> counted_;
};

}  // namespace dadsim::protocols
