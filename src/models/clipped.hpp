#pragma once

#include <memory>
#include <vector>

#include "models/optimizer.hpp"

namespace dadsim::models {

/// Returns the norm of a whole gradient as one vector (Pascanu, Mikolov, Bengio, ICML 2013, arXiv 1211.5063).
double norm_of(const Gradient& gradient);

/// Gives an optimizer gradients of norm at most `largest`: if ‖g‖ > largest, g ← g · largest ÷ ‖g‖ (arXiv 1211.5063,
/// algorithm 1; the norm covers all parameters together, as in PyTorch's clip_grad_norm_; directions count
/// as nothing and keep their length).
class Clipped : public Optimizer {
 public:
  Clipped(std::unique_ptr<Optimizer> inner, double largest) : inner_(std::move(inner)), largest_(largest) {}
  void update(Network& network, const Gradient& gradient, double learning_rate) override;
  std::vector<float> state() const override { return inner_->state(); }
  void set_state(std::span<const float> numbers) override { inner_->set_state(numbers); }

  static double floats_per_parameter() { return 3; }  ///< g read for the norm; g read and written
  static double flops_per_parameter() { return 3; }   ///< squares, their sum, a product

 private:
  std::unique_ptr<Optimizer> inner_;
  double largest_;
};

}  // namespace dadsim::models
