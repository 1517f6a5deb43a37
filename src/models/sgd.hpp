#pragma once

#include <vector>

#include "models/optimizer.hpp"

namespace dadsim::models {

/// Stochastic gradient descent in PyTorch's form, with the learning rate η outside the velocity:
///   g ← g + λ w                     (weight decay λ, L2)
///   v ← μ v + g                     (momentum μ, Polyak 1964; v starts at 0)
///   w ← w − η v,  or with Nesterov  w ← w − η (g + μ v)   (Sutskever et al., ICML 2013)
/// Without momentum: w ← w − η g.
class Sgd : public Optimizer {
 public:
  Sgd(const spec::OptimizerSpec& spec, const Network& network);
  void update(Network& network, const Gradient& gradient, double learning_rate) override;
  std::vector<float> state() const override;
  void set_state(std::span<const float> numbers) override;

  static double floats_per_parameter(const spec::OptimizerSpec& spec);
  static double flops_per_parameter(const spec::OptimizerSpec& spec);

 private:
  float momentum_;
  float weight_decay_;
  bool nesterov_;
  std::vector<Eigen::ArrayXf> velocity_;  ///< shaped like zeros_like_parameters(); empty without momentum
};

}  // namespace dadsim::models
