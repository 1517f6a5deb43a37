#pragma once

#include <cstddef>
#include <vector>

#include "models/data/dataset.hpp"
#include "spec/specification.hpp"

namespace dadsim::protocols {

/// Contributions that are counted as they arrive weigh more the faster their site is, and less where what is stale
/// counts less. Where a run says what sites are worth, each contribution is weighed with p_s ÷ a_s, a_s being the
/// site's share of what all have counted for so far: over time they count Σ a_s (p_s ÷ a_s) = Σ p_s, however fast
/// anyone is.
class ArrivalWeights {
 public:
  ArrivalWeights(spec::SiteWeights weights, const models::Partition& partition);

  /// The weight of a contribution that counts for `damping` by its staleness, and notes that it has come. One more of
  /// each site is counted beforehand, so that the first of a site is not infinitely rare. 1 where each counts as it
  /// comes.
  double take(std::size_t site, double damping = 1);
  /// The same in units of the site whose contributions are worth most, so that it is one at most.
  double take_of_most(std::size_t site, double damping = 1);

 private:
  double weight(std::size_t site) const;

  std::vector<double> shares_;  ///< p_s; empty: each counts as it comes
  std::vector<double> counted_;
};

}  // namespace dadsim::protocols
