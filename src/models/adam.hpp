#pragma once

#include <span>
#include <vector>

#include "models/gradient_moments.hpp"
#include "models/optimizer.hpp"

namespace dadsim::models {

/// Adam (Kingma & Ba, arXiv 1412.6980, algorithm 1) and AdamW (Loshchilov & Hutter, arXiv 1711.05101, algorithm 2),
/// with PyTorch's placing of ε and η. In step t = 1, 2, … of a parameter (steps in which it is frozen do not count):
///   Adam:   g ← g + λ w             (weight decay λ as L2)
///   AdamW:  w ← w − η λ w           (decoupled)
///   m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²      (both start at 0)
///   w ← w − η · m/(1 − β₁ᵗ) ÷ (√(v/(1 − β₂ᵗ)) + ε)       (ε outside the root)
class Adam : public Optimizer {
 public:
  Adam(const spec::OptimizerSpec& spec, const Network& network);
  void update(Network& network, const Gradient& gradient, double learning_rate) override;
  std::vector<float> state() const override { return moments_.state(); }
  void set_state(std::span<const float> numbers) override { moments_.set_state(numbers); }

  static double floats_per_parameter() { return 7; }  ///< w, g, m, v read; w, m, v written
  static double flops_per_parameter(const spec::OptimizerSpec& spec);

 private:
  spec::OptimizerSpec spec_;
  GradientMoments moments_;
};

}  // namespace dadsim::models
