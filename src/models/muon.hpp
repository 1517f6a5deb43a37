#pragma once

#include <span>
#include <vector>

#include "models/gradient_moments.hpp"
#include "models/optimizer.hpp"

namespace dadsim::models {

/// Iterations of Newton–Schulz in a step of Muon.
inline constexpr int kNewtonSchulzSteps = 5;

/// Returns a matrix close to U Vᵀ of M = U Σ Vᵀ, of the same shape: X = M ÷ (‖M‖ + 1e-7), and five times
///   A = X Xᵀ,  X ← a X + (b A + c A²) X            (for Mᵀ if M has more rows than columns)
/// With `fixed` coefficients (Jordan et al., Muon, 2024; KellerJordan/Muon) singular values above 0.01 of the norm
/// become 0.68 to 1.14, with `tuned` ones (microsoft/dion) 0.97 to 1.04. All in fp32; the authors use bf16.
Matrix orthogonalised(ConstBlock matrix, spec::OptimizerSpec::NewtonSchulz coefficients);

/// Returns the factor on the orthogonal step of a matrix with `out` outputs and `in` inputs.
double muon_scale(spec::OptimizerSpec::MuonScale scale, Eigen::Index out, Eigen::Index in);

/// Muon (Jordan et al., 2024; KellerJordan/Muon). Hidden matrices W (spec::DeltaRelations::hidden_matrix):
///   m ← μ m + (1 − μ) g,   u = μ m + (1 − μ) g with Nesterov, else m          (m starts at 0)
///   W ← (1 − η λ) W − η · scale(W) · orthogonalised(u)
/// A gradient that is a direction takes the place of the orthogonal step. All other parameters take AdamW with the
/// learning rate adam_rate, by the same schedule.
class Muon : public Optimizer {
 public:
  Muon(const spec::OptimizerSpec& spec, const Network& network);
  void update(Network& network, const Gradient& gradient, double learning_rate) override;
  std::vector<float> state() const override { return moments_.state(); }
  void set_state(std::span<const float> numbers) override { moments_.set_state(numbers); }

  /// Hidden matrices: w, g, m read, m and u written; then w and the step read, w written. Others: as Adam.
  static double floats_per_parameter() { return 7; }
  /// Without the products of Newton–Schulz; of hidden matrices it is two less.
  static double flops_per_parameter(const spec::OptimizerSpec& spec);

 private:
  spec::OptimizerSpec spec_;
  std::vector<bool> hidden_;  ///< per matrix of the network
  GradientMoments moments_;   ///< m of hidden matrices is the first moment; their second stays 0
};

}  // namespace dadsim::models
