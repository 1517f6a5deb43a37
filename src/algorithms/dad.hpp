#pragma once

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// dAD (distributed auto-differentiation): instead of G = Δᵀ A (out × in) the sites share its factors, A (rows × in)
/// and Δ (rows × out), and every site forms Δ̂ᵀ Â over the rows of all sites. Exact. Smaller than a gradient where rows
/// × (in + out) < in × out.
class Dad final : public Algorithm {
 public:
  /// `separate`: A and Δ in a collective each, after the backward pass and one waited for before the next, as a plain
  /// loop over the layers does it. Otherwise both travel together, beside the rest of the backward pass.
  explicit Dad(bool separate) : separate_(separate) {}

  void run(TrainingStep& step) override;

 private:
  void share_beside_the_pass(TrainingStep& step);
  void share_one_by_one(TrainingStep& step);

  bool separate_;
};

AlgorithmInfo dad_info();

}  // namespace dadsim::algorithms
