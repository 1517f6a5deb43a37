#include "models/optimizers.hpp"
#include "models/parameter_blocks.hpp"

namespace dadsim::models {
namespace {

/// LARS (You, Gitman, Ginsburg, arXiv 1708.03888, algorithm 1), for each matrix, bias vector and vector w separately,
/// with the trust η, the weight decay β, the momentum μ and the learning rate γ:
///   λ = η ‖w‖ ÷ (‖g‖ + β ‖w‖)             (1 if one of the norms is 0)
///   v ← μ v + γ λ (g + β w),   w ← w − v  (v starts at 0)
class Lars final : public VelocityOptimizer {
 public:
  using VelocityOptimizer::VelocityOptimizer;

  void update(Network& network, const Gradient& gradient, double learning_rate) override {
    const auto momentum = static_cast<float>(spec_.momentum);
    const auto decay = static_cast<float>(spec_.weight_decay);
    for_parameter_tensors(network, gradient, [&](std::size_t l, Eigen::Index offset, auto w, auto g) {
      const double weights = norm_of(w);
      const double gradients = norm_of(g);
      // Multiplies the ratio by the paper's trust coefficient; the product is 1 if one of the norms is 0.
      const double ratio = weights > 0 && gradients > 0
                               ? spec_.trust * trust_ratio(weights, gradients + spec_.weight_decay * weights)
                               : 1.0;
      const auto rate = static_cast<float>(learning_rate * ratio);
      if (velocity_.empty()) {
        w -= rate * (g + decay * w);
        return;
      }
      auto v = velocity_[l].segment(offset, w.size());
      v = momentum * v + rate * (g + decay * w);
      w -= v;
    });
  }
};

}  // namespace

OptimizerInfo lars_info() {
  return {make_kind<Lars>,
          // w and g read for the norms; then w, g (and v) read, w (and v) written
          [](const spec::OptimizerSpec& spec) { return spec.momentum != 0 ? 7.0 : 5.0; },
          [](const spec::OptimizerSpec& spec) {
            // Operations: 2 for each of two norms, the rate, and the subtraction.
            const double decay = spec.weight_decay != 0 ? 2 : 0;
            return 6 + decay + (spec.momentum != 0 ? 2 : 0);
          }};
}

}  // namespace dadsim::models
