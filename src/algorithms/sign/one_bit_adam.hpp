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
/// implementation in DeepSpeed). For T steps it is Adam on the sum of the gradients. Then the variance v stays as it
/// is, and the momentum is what sites exchange, one bit a number, with the errors of both ways fed back. Of every
/// matrix with its biases, d numbers in B blocks (one per site among peers, one at an aggregator):
///   y_s = w_s β₁ m + (1 − β₁) g_s + e_s                  w_s = N_s / ΣN, g_s with that factor
///   ŷ_s = (‖y_s‖₂ / √d) sgn y_s,  e_s ← y_s − ŷ_s         block b of it goes to the one who combines b
///   z_b = Σ_s ŷ_s + e_b,  m_b = (‖z_b‖₂ / √d_b) sgn z_b,  e_b ← z_b − m_b      and m_b goes to all
///   W ← W − η m / (√v̂ + ε)                                v̂ = v_T / (1 − β₂ᵀ)
/// The momentum is not corrected for its start any more; v̂ keeps the correction that it had at T, so that steps are as
/// long after T as before it. What had no gradient until T has no v to be divided by: it stays where it is, and is not
/// counted in d (the reference implementation has masks for this, made by hand). What is learned beside the matrices
/// (norms, positions) is summed over sites in fp32, and goes through the same momentum and v̂ without compression.
class OneBitAdam final : public Algorithm {
 public:
  struct Options {
    double warm_up_share = 0.2;      ///< T ÷ the steps that the run may take
    std::int64_t warm_up_steps = 0;  ///< T, if it is not 0
  };

  explicit OneBitAdam(Options options) : options_(options) {}
  void run(TrainingStep& step) override;

  /// m of matrix l, then of its biases; empty before T.
  const Eigen::ArrayXf& momentum(std::size_t l) const { return tensors_[l].momentum; }
  /// The sum of all e of matrix l with its biases.
  Eigen::ArrayXf errors(std::size_t l) const;

 private:
  /// Everything about one matrix with its biases, or about one vector.
  struct Tensor {
    Eigen::ArrayXf momentum;
    Eigen::ArrayXf per_deviation;              ///< 1 / (√v̂ + ε), or 0 where there is no v
    std::vector<Eigen::ArrayXf> site_errors;   ///< e_s
    std::vector<Eigen::ArrayXf> block_errors;  ///< e_b
  };

  bool is_warming_up(const TrainingStep& step) const;
  /// Takes m and v over from Adam.
  void freeze(const TrainingStep& step);
  /// y_s of all sites, encoded: per block what every site hands out of it.
  struct Ballot {
    std::vector<std::uint32_t> signs;  ///< of a block; beyond its end, zeros
    std::vector<std::uint32_t> scale;  ///< one fp32 number as it lies in memory
  };
  std::vector<Ballot> encode(TrainingStep& step, std::size_t l, std::size_t site, models::LayerGradient own);
  /// z_b and what becomes of it.
  Ballot combine(Tensor& tensor, std::size_t block, const Rows& of_sites);
  // The three of matrix l that follow charge for what they compute.
  /// Per site and block.
  std::vector<std::vector<Ballot>> encode_sites(TrainingStep& step, std::size_t l);
  /// Every block of all sites' signs, encoded again.
  std::vector<Rows> combine_blocks(TrainingStep& step, std::size_t l, const std::vector<Rows>& of_sites);
  /// m from the blocks, and the step from m.
  void apply(TrainingStep& step, std::size_t l, const std::vector<Rows>& made);

  Options options_;
  bool frozen_ = false;
  std::vector<Tensor> tensors_;  ///< per matrix of the step
  std::vector<Tensor> vectors_;
};

}  // namespace dadsim::algorithms
