#pragma once

#include "algorithms/algorithm.hpp"

namespace dadsim {

/// dAD (distributed auto-differentiation): instead of G = Δᵀ A (out × in) the sites share its factors, A (rows × in)
/// and Δ (rows × out), and every site forms Δ̂ᵀ Â over the rows of all sites. Exact. Smaller than a gradient where rows
/// × (in + out) < in × out.
class Dad final : public Algorithm {
 public:
  void run(TrainingStep& step) override;
};

AlgorithmInfo dad_info();

}  // namespace dadsim
