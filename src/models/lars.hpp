#pragma once

#include <vector>

#include "models/optimizer.hpp"

namespace dadsim::models {

/// LARS (You, Gitman, Ginsburg, arXiv 1708.03888, algorithm 1), for each matrix, bias vector and vector w separately,
/// with the trust η, the weight decay β, the momentum μ and the learning rate γ:
///   λ = η ‖w‖ ÷ (‖g‖ + β ‖w‖)             (1 if one of the norms is 0)
///   v ← μ v + γ λ (g + β w),   w ← w − v  (v starts at 0)
class Lars : public Optimizer {
 public:
  Lars(const spec::OptimizerSpec& spec, const Network& network);
  void update(Network& network, const Gradient& gradient, double learning_rate) override;
  std::vector<float> state() const override;  ///< v; nothing without momentum
  void set_state(std::span<const float> numbers) override;

  /// w and g read for the norms; then w, g (and v) read, w (and v) written.
  static double floats_per_parameter(const spec::OptimizerSpec& spec);
  static double flops_per_parameter(const spec::OptimizerSpec& spec);

 private:
  spec::OptimizerSpec spec_;
  std::vector<Eigen::ArrayXf> velocity_;  ///< shaped like zeros_like_parameters(); empty without momentum
};

}  // namespace dadsim::models
