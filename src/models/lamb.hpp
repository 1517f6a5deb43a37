#pragma once

#include <span>
#include <vector>

#include "models/gradient_moments.hpp"
#include "models/optimizer.hpp"

namespace dadsim::models {

/// LAMB (You et al., arXiv 1904.00962, algorithm 2, φ the identity). In step t = 1, 2, … of each matrix, bias vector
/// and vector w separately (steps in which it is frozen do not count):
///   m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²                     (both start at 0)
///   u = m/(1 − β₁ᵗ) ÷ (√(v/(1 − β₂ᵗ)) + ε) + λ w
///   w ← w − η · ‖w‖/‖u‖ · u                                             (the ratio is 1 if one of the norms is 0)
class Lamb : public Optimizer {
 public:
  Lamb(const spec::OptimizerSpec& spec, const Network& network);
  void update(Network& network, const Gradient& gradient, double learning_rate) override;
  std::vector<float> state() const override { return moments_.state(); }
  void set_state(std::span<const float> numbers) override { moments_.set_state(numbers); }

  /// w, g, m, v read, m, v and u written; then, with the norms, w and u read and w written.
  static double floats_per_parameter() { return 10; }
  static double flops_per_parameter(const spec::OptimizerSpec& spec);

 private:
  spec::OptimizerSpec spec_;
  GradientMoments moments_;
};

}  // namespace dadsim::models
