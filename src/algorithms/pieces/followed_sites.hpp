#pragma once

#include <vector>

#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

/// M_s = G_s + E_s of each site for one matrix, where a method needs their sum alone: kept for an observer that asks
/// what a single site sends. Nothing of it is charged, for no site does it for another.
///
/// It is known from the first step on until a step in which nobody asks; then never again.
class FollowedSites {
 public:
  /// The gradients of this step are added. Of matrices that multiply rows.
  void add_gradients(TrainingStep& step, std::size_t l);
  bool known() const { return known_ && !of_sites_.empty(); }
  /// Of a site that the observer looks at.
  const models::Matrix& operator[](std::size_t site) const { return of_sites_[site]; }
  /// Each site takes its share N_s ÷ ΣN of what all apply off again: what is left is E_s.
  void take_off(const TrainingStep& step, const models::Matrix& applied);

 private:
  bool known_ = true;
  std::vector<models::Matrix> of_sites_;
};

/// The gradient of a site's biases, and behind it that of the matrix, row by row, if `with_weights`: a column.
models::Matrix beside_of_site(const TrainingStep& step, std::size_t l, std::size_t site, bool with_weights);

}  // namespace dadsim::algorithms
