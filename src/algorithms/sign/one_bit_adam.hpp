#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/exchange/exchange.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

/// 1-bit Adam (Tang, Gan, Awan, Rajbhandari, Li, Lian, Liu, Zhang, He, ICML 2021, arXiv 2102.02888; reference
/// implementation in DeepSpeed). For T steps it is Adam on the sum of the gradients. Then the variance v is frozen, and
/// sites exchange the momentum with one bit per number and error feedback in both directions. For every matrix with its
/// biases, d numbers in B blocks (one per site among peers, one at an aggregator):
///   y_s = w_s β₁ m + (1 − β₁) g_s + e_s                  w_s = N_s / ΣN, g_s with that factor
///   ŷ_s = (‖y_s‖₂ / √d) sgn y_s,  e_s ← y_s − ŷ_s         block b is sent to its combiner
///   z_b = Σ_s ŷ_s + e_b,  m_b = (‖z_b‖₂ / √d_b) sgn z_b,  e_b ← z_b − m_b      m_b is sent to all sites
///   W ← W − η m / (√v̂ + ε)                                v̂ = v_T / (1 − β₂ᵀ)
/// The momentum's bias correction ends at T; v̂ keeps its correction of T, so that steps are as long after T as before
/// it. Numbers without a gradient until T have no v to be divided by: they stay unchanged, and are not counted in d
/// (the reference implementation has hand-made masks for this). Parameters outside the matrices (norms, positions) are
/// summed over sites in fp32, and use the same momentum and v̂ without compression.
class OneBitAdam final : public Algorithm {
 public:
  struct Options {
    double warm_up_share = 0.2;      ///< T as a share of the largest number of steps of the run
    std::int64_t warm_up_steps = 0;  ///< T in steps; 0: warm_up_share applies
  };

  explicit OneBitAdam(Options options) : options_(options) {}
  void run(TrainingStep& step) override;

  /// Returns m of matrix l, then of its biases; empty before T.
  const Eigen::ArrayXf& momentum(std::size_t l) const { return tensors_[l].momentum; }
  /// Returns Σ e_s + Σ e_b of matrix l with its biases.
  Eigen::ArrayXf errors(std::size_t l) const;

 private:
  /// State of one matrix with its biases, or of one vector.
  struct Tensor {
    Eigen::ArrayXf momentum;
    Eigen::ArrayXf per_deviation;              ///< 1 / (√v̂ + ε), or 0 for numbers without v
    std::vector<Eigen::ArrayXf> site_errors;   ///< e_s
    std::vector<Eigen::ArrayXf> block_errors;  ///< e_b
  };

  bool is_warming_up(const TrainingStep& step) const;
  /// Copies m and v from Adam, and freezes v.
  void freeze(const TrainingStep& step);
  /// Encoded y_s of a site for one block.
  struct Ballot {
    std::vector<std::uint32_t> signs;  ///< one per number of the block; zeros beyond its end
    std::vector<std::uint32_t> scale;  ///< one number, as the bits of fp32
  };
  std::vector<Ballot> encode(TrainingStep& step, std::size_t l, std::size_t site, models::LayerGradient own);
  /// Returns the encoded z_b, and updates e_b.
  Ballot combine(Tensor& tensor, std::size_t block, const Rows& of_sites);
  // The next three functions charge their work, for matrix l.
  /// Encodes the numbers of every site, per site and block.
  std::vector<std::vector<Ballot>> encode_sites(TrainingStep& step, std::size_t l);
  /// Sums the signs of all sites in every block, and encodes each sum.
  std::vector<Rows> combine_blocks(TrainingStep& step, std::size_t l, const std::vector<Rows>& of_sites);
  /// Computes m from the blocks, and the step from m.
  void apply(TrainingStep& step, std::size_t l, const std::vector<Rows>& made);

  Options options_;
  bool frozen_ = false;
  std::vector<Tensor> tensors_;  ///< per matrix of the step
  std::vector<Tensor> vectors_;
};

}  // namespace dadsim::algorithms
