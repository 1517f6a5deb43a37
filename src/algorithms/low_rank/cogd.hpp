#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

/// Two dense layers with nothing between them are one of low rank: W = U Vᵀ, V the first (r × in, rows v_j), U the
/// second (out × r, columns u_j), with r < in, out. Gives the number of V's matrix for every such pair; none overlap.
std::vector<std::size_t> factor_pairs(const models::Network& network);

/// An optimizer option for factor pairs in the spirit of cogradient descent (CoGD; Wang et al., Cogradient Descent for
/// Bilinear Optimization, CVPR 2020, arXiv 2006.09142; Wang et al., Cogradient Descent for Dependable Learning, arXiv
/// 2106.10617): where v_j vanishes u_j gets no gradient any more, and is moved along itself instead. Details of the
/// rule could not be read off the papers and are assumed. After the step of the optimizer, for every component j with
/// ‖v_j‖₁ below the α_t-quantile of the pair's, α_t = (T − t) ÷ 2T, and ‖u_j‖ above the median:
///     u_j ← u_j + s c_j p_j u_j(t),  p_j = min(1, ‖Δv_j‖ ÷ (‖Δu_j‖ + 1e-5))
/// where u_j(t) and the changes Δ are those of before the step, and c_j = ‖dLoss/dz_j‖ ÷ max_k ‖dLoss/dz_k‖ over the
/// samples of all sites, z = Vᵀ x: the residual as component j sees it, one sum over sites of r squares. Then, as in
/// dictionary learning, ‖u_j‖ is capped. V is shrunk towards zero by the proximal step of an L1 penalty, η l1.
///
/// The factors may be updated in turns, or U with gradients that are some steps old: the case that the paper calls
/// asynchronous.
class Cogd final : public Algorithm {
 public:
  enum class CogdUpdate { synchronous, alternating, stale };
  struct Options {
    CogdUpdate update = CogdUpdate::synchronous;
    std::int64_t staleness = 4;  ///< steps; stale alone
    double strength = 0.1;       ///< s; 0: plain gradient descent
    double l1 = 0;
    double cap = 1;  ///< of ‖u_j‖; 0: none
  };
  explicit Cogd(const Options& options) : options_(options) {}

  void run(TrainingStep& step) override;
  void updated(TrainingStep& step, models::Network& network) override;

  /// Components of a pair that have died: ‖u_j‖ ‖v_j‖ below 1 % of the largest of the pair.
  static std::int64_t dead_components(const models::Network& network, std::size_t pair);
  /// How often a component has been moved so far.
  std::int64_t moved() const { return moved_; }

 private:
  bool is_v(std::size_t l) const;
  bool is_u(std::size_t l) const { return l > 0 && is_v(l - 1); }
  /// Whether a factor is left alone in this step.
  bool rests(const TrainingStep& step, std::size_t l) const;

  struct CogdPair {
    std::size_t l = 0;                  ///< V's matrix in the step; U's is the next
    std::size_t v = 0;                  ///< and in the network
    models::Matrix u_before, v_before;  ///< of the step
    models::Vector u_bias_before, v_bias_before;
    models::Vector residual;                      ///< c, r
    std::deque<models::LayerGradient> gradients;  ///< of U, that wait
  };
  void move(TrainingStep& step, CogdPair& pair, models::Matrix& u, const models::Matrix& v);

  Options options_;
  bool looked_ = false;
  std::vector<CogdPair> pairs_;
  std::int64_t moved_ = 0;
};

}  // namespace dadsim::algorithms
