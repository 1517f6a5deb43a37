#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

/// DeMo, decoupled momentum (Peng, Quesnelle, Kingma, arXiv 2411.19870; reference implementation bloc97/DeMo). For
/// every matrix, and for its biases as a matrix of one row, at site s:
///   δ_s ← β δ_s + η g_s
///   q_s = the k coefficients of the largest magnitudes in each chunk of DCT(δ_s)
///   δ_s ← δ_s − DCT⁻¹(q_s)
///   Q = the mean of q_s over the sites that have sent the coefficient
///   W ← W − η (sgn DCT⁻¹(Q) + λ W)      plain SGD with the sign in the place of the gradient
/// g_s is the site's share of the gradient, N_s / ΣN times its own; a site without rows takes no part in a step. Chunks
/// are as high and as wide as the largest divisors of the matrix up to 64. Parameters outside the matrices (norms,
/// positions) are summed over sites in fp32, since the pass does not separate sites there, and their sign is applied:
/// as if all their coefficients were kept. Convolutions are matrices of out × (in · window), as everywhere here.
class DeMo final : public Algorithm {
 public:
  struct Options {
    float decay = 0.999F;  ///< β
    std::int64_t kept = 32;
    std::int64_t chunk = 64;
    bool packed = false;  ///< values in bf16 and positions in 16 bits
  };

  explicit DeMo(Options options) : options_(options) {}
  void run(TrainingStep& step) override;

  /// Returns δ of site `site`, matrix l.
  const models::LayerGradient& momentum(std::size_t site, std::size_t l) const { return momentum_[l][site]; }

 private:
  /// Message of a site for one matrix with its biases.
  struct Lists {
    models::Matrix values = models::Matrix(0, 0);  ///< 1 × count
    std::vector<std::int32_t> places;              ///< positions of the coefficients within their chunks
    std::vector<std::uint32_t> value_codes, place_codes;
  };
  /// Moves the largest coefficients of δ to `into`.
  void take(models::Matrix& momentum, Lists& into) const;
  Lists lists_of(models::LayerGradient& momentum) const;
  /// Adds this step's gradient of matrix l to each site's δ, moves the largest coefficients to lists, and charges this
  /// work.
  std::vector<Lists> take_of_sites(TrainingStep& step, std::size_t l);
  /// Returns the lists as a contribution, valid while `lists` exists.
  Contribution contribution(const std::vector<Lists>& lists) const;
  /// Returns the signs of the mean coefficients of all sites, transformed back to matrix l and its biases, and charges
  /// this work.
  models::LayerGradient signs_of_mean(TrainingStep& step, std::size_t l, const Rows& all) const;

  Options options_;
  std::vector<std::vector<models::LayerGradient>> momentum_;  ///< per matrix and site
};

}  // namespace dadsim::algorithms
