#include "models/optimizers.hpp"
#include "models/parameter_blocks.hpp"

namespace dadsim::models {
namespace {

/// Stochastic gradient descent in PyTorch's form, with the learning rate η outside the velocity:
///   g ← g + λ w                     (weight decay λ, L2)
///   v ← μ v + g                     (momentum μ, Polyak 1964; v starts at 0)
///   w ← w − η v,  or with Nesterov  w ← w − η (g + μ v)   (Sutskever et al., ICML 2013)
/// Without momentum: w ← w − η g.
class Sgd final : public VelocityOptimizer {
 public:
  using VelocityOptimizer::VelocityOptimizer;

  void update(Network& network, const Gradient& gradient, double learning_rate) override {
    const auto rate = static_cast<float>(learning_rate);
    const auto momentum = static_cast<float>(spec_.momentum);
    const auto decay = static_cast<float>(spec_.weight_decay);
    for_parameter_blocks(network, gradient, [&](std::size_t l, Eigen::Index offset, auto w, auto g) {
      if (velocity_.empty()) {
        if (decay == 0) {
          w -= rate * g;
        } else {
          w -= rate * (g + decay * w);
        }
        return;
      }
      auto v = velocity_[l].segment(offset, w.size());
      if (spec_.nesterov) {
        // g + μ v = g + μ (μ v_old + g): updates the velocity, then adds the gradient again.
        v = momentum * v + (g + decay * w);
        w -= rate * ((g + decay * w) + momentum * v);
      } else {
        v = momentum * v + (g + decay * w);
        w -= rate * v;
      }
    });
  }
};

}  // namespace

OptimizerInfo sgd_info() {
  return {make_kind<Sgd>,
          // w, g (and v) read; w (and v) written
          [](const spec::OptimizerSpec& spec) { return spec.momentum != 0 ? 5.0 : 3.0; },
          [](const spec::OptimizerSpec& spec) {
            const double decay = spec.weight_decay != 0 ? 2 : 0;
            const double velocity = spec.momentum != 0 ? (spec.nesterov ? 4 : 2) : 0;
            return 2 + decay + velocity;
          }};
}

}  // namespace dadsim::models
