#pragma once

#include <cstdint>
#include <vector>

#include "models/optimizer.hpp"

namespace dadsim::models {

/// LAMB (You et al., arXiv 1904.00962, algorithm 2, φ the identity). In step t = 1, 2, … of each matrix, each row of
/// biases and each vector w by itself (steps in which it stays do not count):
///   m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²                     (both start at 0)
///   u = m/(1 − β₁ᵗ) ÷ (√(v/(1 − β₂ᵗ)) + ε) + λ w
///   w ← w − η · ‖w‖/‖u‖ · u                                             (the ratio is 1 where one of the norms is 0)
class Lamb : public Optimizer {
 public:
  Lamb(const spec::OptimizerSpec& spec, const Network& network);
  void update(Network& network, const Gradient& gradient, double learning_rate) override;
  std::vector<float> state() const override;  ///< t (exact up to 2²⁴), m, v
  void set_state(std::span<const float> numbers) override;

  /// w, g, m, v read, m, v and u written; then, with the norms, w and u read and w written.
  static double floats_per_parameter() { return 10; }
  static double flops_per_parameter(const spec::OptimizerSpec& spec);

 private:
  spec::OptimizerSpec spec_;
  std::int64_t steps_ = 0;
  std::vector<std::int64_t> stayed_;           ///< per matrix: steps of these in which it stayed; no part of state()
  std::vector<Eigen::ArrayXf> first_moment_;   ///< m, as zeros_like_parameters()
  std::vector<Eigen::ArrayXf> second_moment_;  ///< v, likewise
};

}  // namespace dadsim::models
