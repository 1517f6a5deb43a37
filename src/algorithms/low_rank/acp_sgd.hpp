#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/pieces/subspace.hpp"

namespace dadsim::algorithms {

/// ACP-SGD, alternating compression with error feedback (Zhang, Zhang, Shi, Chu, Li, ICDCS 2023, arXiv 2306.08881;
/// authors' program lzhangbv/acpsgd). Per matrix, with G_s (out × in) the gradient of site s with the weight N_s ÷ ΣN
/// and r = min(rank, in, out):
///   M_s = G_s + E_s
///   even steps:  Q ← orthonormalise(Q),  P_s = M_s Q  (out × r),  E_s = M_s − P_s Qᵀ,  P = Σ_s P_s
///   odd steps:   P ← orthonormalise(P),  Q_s = M_sᵀ P  (in × r),  E_s = M_s − P Q_sᵀ,  Q = Σ_s Q_s
///   G ≈ P Qᵀ
/// A step sends one factor, in one sum that does not wait for another. E_s follows from the site's own factor, before
/// the sum; a site that is absent keeps its E_s. P and Q start as N(0, 1), the same at every site. Biases are summed
/// uncompressed.
class AcpSgd final : public Algorithm {
 public:
  struct Options {
    std::int64_t rank = 4;
    double least_compression = 1;  ///< see SubspaceOptions
  };

  explicit AcpSgd(Options options) : options_(options) {}
  void run(TrainingStep& step) override;

  /// Returns E_s of matrix `layer` (out × in), after the first step.
  const models::Matrix& memory(std::size_t site, std::size_t layer) const { return layers_[layer].memory[site]; }

 private:
  struct AlternatingFactors {
    std::vector<models::Matrix> memory;  ///< per site, out × in: E_s between steps, M_s within one
    models::Matrix p, q;                 ///< out × r and in × r; empty before the first step that needs them
  };

  /// Adds the sites' gradients of matrix l to their memories. Returns the sum of the biases, followed by that of the
  /// matrix, row by row, if it is not compressed.
  models::Matrix add_gradients(TrainingStep& step, std::size_t l, bool is_compressed);
  /// Returns each site's P_s or Q_s, and leaves E_s. Charges.
  std::vector<models::Matrix> factors_of_sites(TrainingStep& step, std::size_t l, const step::Expression& compressed,
                                               const step::Expression& rank);

  Options options_;
  std::vector<AlternatingFactors> layers_;
};

}  // namespace dadsim::algorithms
