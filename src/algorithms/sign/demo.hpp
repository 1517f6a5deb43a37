#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

/// DeMo, decoupled momentum (Peng, Quesnelle, Kingma, arXiv 2411.19870; reference implementation bloc97/DeMo). Of every
/// matrix, and likewise of its biases as a matrix of one row, at site s:
///   δ_s ← β δ_s + η g_s
///   q_s = the k coefficients of the largest magnitudes in each chunk of DCT(δ_s)
///   δ_s ← δ_s − DCT⁻¹(q_s)
///   Q = the mean of q_s over the sites that have sent the coefficient
///   W ← W − η (sgn DCT⁻¹(Q) + λ W)      plain SGD with the sign in the place of the gradient
/// g_s is the site's share of the gradient, N_s / ΣN times its own; a site without rows takes no part in a step. Chunks
/// are as high and as wide as the largest divisors of the matrix up to 64. What is learned beside the matrices (norms,
/// positions) is summed over sites in fp32, for the pass does not tell sites apart there, and its sign applied: as if
/// all of its coefficients were kept. Convolutions are matrices of out × (in · window), as everywhere here.
class DeMo final : public Algorithm {
 public:
  struct Options {
    float decay = 0.999F;  ///< β
    std::int64_t kept = 32;
    std::int64_t chunk = 64;
    bool packed = false;  ///< values in bf16 and places in 16 bits
  };

  explicit DeMo(Options options) : options_(options) {}
  void run(TrainingStep& step) override;

  /// δ of site `site`, matrix l.
  const models::LayerGradient& momentum(std::size_t site, std::size_t l) const { return momentum_[l][site]; }

 private:
  /// What a site sends of one matrix with its biases.
  struct Lists {
    models::Matrix values = models::Matrix(0, 0);  ///< 1 × count
    std::vector<std::int32_t> places;              ///< within their chunks
    std::vector<std::uint32_t> value_codes, place_codes;
  };
  /// Takes the largest coefficients out of δ.
  void take(models::Matrix& momentum, Lists& into) const;
  Lists lists_of(models::LayerGradient& momentum) const;
  /// Per site, of its δ with this step's gradient of matrix l. Charges.
  std::vector<Lists> take_of_sites(TrainingStep& step, std::size_t l);
  /// What sites hand over, as long as `lists` lives.
  Contribution contribution(const std::vector<Lists>& lists) const;
  /// Of the coefficients of all sites, back in matrix l and its biases. Charges.
  models::LayerGradient signs_of_mean(TrainingStep& step, std::size_t l, const Rows& all) const;

  Options options_;
  std::vector<std::vector<models::LayerGradient>> momentum_;  ///< per matrix and site
};

}  // namespace dadsim::algorithms
