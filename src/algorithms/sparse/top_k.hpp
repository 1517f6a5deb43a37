#pragma once

#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/pieces/largest_entries.hpp"

namespace dadsim::algorithms {

/// Top-k with error feedback (Aji, Heafield, EMNLP 2017, arXiv 1704.05021; Stich, Cordonnier, Jaggi, NeurIPS 2018,
/// arXiv 1809.07599, algorithm 1). Per matrix, with M_s = G_s + E_s (out × in) the gradient of site s, with the weight
/// N_s ÷ ΣN, and its kept error:
///     C_s = the k = ⌈fraction · in · out⌉ entries of M_s of the largest magnitude, each a value and an index
///     G = Σ_s C_s, from an all-gather of the C_s
///     E_s = M_s − C_s
/// Biases are summed uncompressed.
///
/// The entries that a site sends depend on its own error, so that E_s is kept per site: sites × matrices.
class TopK final : public Algorithm {
 public:
  explicit TopK(double fraction) : fraction_(fraction) {}
  void run(TrainingStep& step) override;

  /// Returns E_s of matrix `layer`, out × in; after the first step.
  const models::Matrix& memory(std::size_t site, std::size_t layer) const { return memory_[layer][site].weight; }

 private:
  double fraction_;
  std::vector<std::vector<models::LayerGradient>> memory_;  ///< per matrix and site: E_s between steps, M_s within one
};

}  // namespace dadsim::algorithms
