#include <algorithm>
#include <vector>

#include "models/gradient_moments.hpp"
#include "models/kernels/array_kernels.hpp"
#include "models/optimizers.hpp"
#include "models/parameter_blocks.hpp"

namespace dadsim::models {
namespace {

/// Adam (Kingma & Ba, arXiv 1412.6980, algorithm 1) and AdamW (Loshchilov & Hutter, arXiv 1711.05101, algorithm 2),
/// with PyTorch's placing of ε and η. In step t = 1, 2, … of a parameter (steps in which it is frozen do not count):
///   Adam:   g ← g + λ w             (weight decay λ as L2)
///   AdamW:  w ← w − η λ w           (decoupled)
///   m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²      (both start at 0)
///   w ← w − η · m/(1 − β₁ᵗ) ÷ (√(v/(1 − β₂ᵗ)) + ε)       (ε outside the root)
class Adam final : public MomentsOptimizer {
 public:
  using MomentsOptimizer::MomentsOptimizer;

  void update(Network& network, const Gradient& gradient, double learning_rate) override {
    moments_.begin_step(gradient);
    std::vector<AdamStep> steps;  // numbers of each matrix, then of all vectors
    for (std::size_t l = 0; l <= moments_.matrices(); ++l) steps.push_back(adam_step(l, learning_rate));
    for_parameter_blocks(network, gradient,
                         [&](std::size_t l, Eigen::Index offset, auto weights, auto value_gradients) {
                           array_kernels().adam(steps[std::min(l, moments_.matrices())], weights.size(), weights.data(),
                                                value_gradients.data(), moments_.first(l).data() + offset,
                                                moments_.second(l).data() + offset);
                         });
  }
};

}  // namespace

OptimizerInfo adam_info() {
  return {make_kind<Adam>,
          // w, g, m, v read; w, m, v written
          [](const spec::OptimizerSpec&) { return 7.0; },
          [](const spec::OptimizerSpec& spec) {
            // Operations: m 3, v 4; step: root, scale, + ε, rate, ÷, −.
            const double decay = spec.weight_decay == 0 ? 0 : (spec.kind == spec::OptimizerSpec::Kind::adamw ? 1 : 2);
            return 13 + decay;
          }};
}

}  // namespace dadsim::models
