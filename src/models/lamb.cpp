#include "models/gradient_moments.hpp"
#include "models/kernels/root.hpp"
#include "models/optimizers.hpp"
#include "models/parameter_blocks.hpp"

namespace dadsim::models {
namespace {

/// LAMB (You et al., arXiv 1904.00962, algorithm 2, φ the identity). In step t = 1, 2, … of each matrix, bias vector
/// and vector w separately (steps in which it is frozen do not count):
///   m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²                     (both start at 0)
///   u = m/(1 − β₁ᵗ) ÷ (√(v/(1 − β₂ᵗ)) + ε) + λ w
///   w ← w − η · ‖w‖/‖u‖ · u                                             (the ratio is 1 if one of the norms is 0)
class Lamb final : public MomentsOptimizer {
 public:
  using MomentsOptimizer::MomentsOptimizer;

  void update(Network& network, const Gradient& gradient, double learning_rate) override {
    moments_.begin_step(gradient);
    for_parameter_tensors(network, gradient, [&](std::size_t l, Eigen::Index offset, auto w, auto g) {
      const AdamStep like = adam_step(l, 1);
      auto m = moments_.first(l).segment(offset, w.size());
      auto v = moments_.second(l).segment(offset, w.size());
      m = like.beta1 * m + like.rest1 * g;
      v = like.beta2 * v + like.rest2 * g.square();
      const Eigen::ArrayXf step = like.rate * m / (like.scale * roots_of(v) + like.epsilon) + like.decay * w;
      w -= static_cast<float>(learning_rate * trust_ratio(norm_of(w), norm_of(step))) * step;
    });
  }
};

}  // namespace

OptimizerInfo lamb_info() {
  return {make_kind<Lamb>,
          // w, g, m, v read, m, v and u written; then, with the norms, w and u read and w written
          [](const spec::OptimizerSpec&) { return 10.0; },
          [](const spec::OptimizerSpec& spec) {
            // Operations: m 3, v 4; u: two scales, root, + ε, ÷; two norms of 2 each; rate, −.
            return spec.weight_decay == 0 ? 18.0 : 20.0;
          }};
}

}  // namespace dadsim::models
