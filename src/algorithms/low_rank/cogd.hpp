#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

/// Returns, for every factor pair, the number of V's matrix; no pairs overlap. Two dense layers with nothing between
/// them form a low-rank layer W = U Vᵀ, with r < in, out. V is the first (r × in, rows v_j), U the second (out × r,
/// columns u_j).
std::vector<std::size_t> factor_pairs(const models::Network& network);

/// An optimizer option for factor pairs in the spirit of cogradient descent (CoGD; Wang et al., Cogradient Descent for
/// Bilinear Optimization, CVPR 2020, arXiv 2006.09142; Wang et al., Cogradient Descent for Dependable Learning, arXiv
/// 2106.10617): if v_j vanishes, u_j gets no gradient, and is moved along itself instead. The papers leave details of
/// the rule open; they are assumed here. After the step of the optimizer, for every component j with ‖v_j‖₁ below the
/// α_t-quantile of the pair's, α_t = (T − t) ÷ 2T, and ‖u_j‖ above the median:
///     u_j ← u_j + s c_j p_j u_j(t),  p_j = min(1, ‖Δv_j‖ ÷ (‖Δu_j‖ + 1e-5))
/// where u_j(t) is the value before the step, the Δ are the step's changes, and c_j = ‖dLoss/dz_j‖ ÷ max_k ‖dLoss/dz_k‖
/// over the samples of all sites, z = Vᵀ x: the residual as component j sees it, one sum over sites of r squares. Then,
/// as in dictionary learning, ‖u_j‖ is capped. V is shrunk towards zero by the proximal step of an L1 penalty, η l1.
///
/// The factors may be updated in turns, or U with gradients that are some steps old (the paper's asynchronous case).
class Cogd final : public Algorithm {
 public:
  enum class CogdUpdate { synchronous, alternating, stale };
  struct Options {
    CogdUpdate update = CogdUpdate::synchronous;
    std::int64_t staleness = 4;  ///< delay of U's gradients in steps; only with `stale`
    double strength = 0.1;       ///< s; 0: plain gradient descent
    double l1 = 0;
    double cap = 1;  ///< largest ‖u_j‖; 0: none
  };
  explicit Cogd(const Options& options) : options_(options) {}

  void run(TrainingStep& step) override;
  void updated(TrainingStep& step, models::Network& network) override;

  /// Returns the number of dead components of a pair: those with ‖u_j‖ ‖v_j‖ below 1 % of the pair's largest.
  static std::int64_t dead_components(const models::Network& network, std::size_t pair);
  /// Returns the number of component moves so far.
  std::int64_t moved() const { return moved_; }

 private:
  bool is_v(std::size_t l) const;
  bool is_u(std::size_t l) const { return l > 0 && is_v(l - 1); }
  /// Returns whether a factor stays unchanged in this step.
  bool rests(const TrainingStep& step, std::size_t l) const;

  struct CogdPair {
    std::size_t l = 0;                  ///< number of V's matrix in the step; U's is the next one
    std::size_t v = 0;                  ///< number of V's matrix in the network
    models::Matrix u_before, v_before;  ///< values before the step
    models::Vector u_bias_before, v_bias_before;
    models::Vector residual;                      ///< c, r
    std::deque<models::LayerGradient> gradients;  ///< delayed gradients of U
  };
  void move(TrainingStep& step, CogdPair& pair, models::Matrix& u, const models::Matrix& v);

  Options options_;
  bool looked_ = false;
  std::vector<CogdPair> pairs_;
  std::int64_t moved_ = 0;
};

}  // namespace dadsim::algorithms
