#pragma once

#include <vector>

#include "algorithms/private/rgp.hpp"

namespace dadsim::algorithms {

/// In the spirit of LSG (Ito, Liew, Takahashi, Sasaki, Onizuka, Scaling Private Deep Learning with Low-Rank and Sparse
/// Gradients, arXiv 2207.02699): RGP of which only a share of the numbers is kept, so that noise is added to few. Their
/// rule of what is kept could not be read; those here are ours. All of them follow from what all sites know already, so
/// that choosing spends no privacy and no mask is sent. Numbers that are not kept are zero before norms are taken:
/// clipping is of what is released.
///     S = the ⌈density · numbers⌉ largest scores of a matrix
///     random:    drawn anew in every step; the default, since it learned best (docs/private.md)
///     magnitude: |H R|, |Hᵀ L| with H = Σ_s memory^{t−1−s} G_s of the noisy gradients that were applied before; random
///                at the first step
///     synflow:   |L_ik| Σ_j |R_jk|, |R_jk| Σ_i |L_ik|: the score of Tanaka et al., Pruning neural networks without any
///                data by iteratively conserving synaptic flow, NeurIPS 2020, arXiv 2006.05467, of a layer by itself
class Lsg final : public Rgp {
 public:
  enum class Rule : std::uint8_t { magnitude, random, synflow };
  struct Sparsity {
    double density = 0.25;  ///< share of the numbers that is released
    Rule rule = Rule::random;
    double memory = 0.9;
  };
  Lsg(const PrivacyOptions& privacy, const Options& options, const Sparsity& sparsity)
      : Rgp(privacy, options), sparsity_(sparsity) {}

 protected:
  step::Expression released(const step::Expression& all) const override;
  std::optional<Mask> choose(TrainingStep& step, std::size_t l, const std::optional<Carriers>& carriers,
                             const step::Expression& rank, const step::Expression& low_rank) override;
  void applied(TrainingStep& step, std::size_t l, const models::Matrix& gradient) override;

 private:
  Sparsity sparsity_;
  std::vector<models::Matrix> history_;  ///< out × in: H
};

SynchronousMethod lsg_method();

}  // namespace dadsim::algorithms
