#include "models/sgd.hpp"

#include "models/parameter_blocks.hpp"

namespace dadsim::models {

Sgd::Sgd(const spec::OptimizerSpec& spec, const Network& network)
    : momentum_(static_cast<float>(spec.momentum)),
      weight_decay_(static_cast<float>(spec.weight_decay)),
      nesterov_(spec.nesterov) {
  if (spec.momentum != 0) velocity_ = zeros_like_parameters(network);
}

void Sgd::update(Network& network, const Gradient& gradient, double learning_rate) {
  const auto rate = static_cast<float>(learning_rate);
  for_parameter_blocks(network, gradient, [&](std::size_t l, Eigen::Index offset, auto w, auto g) {
    if (velocity_.empty()) {
      if (weight_decay_ == 0) {
        w -= rate * g;
      } else {
        w -= rate * (g + weight_decay_ * w);
      }
      return;
    }
    auto v = velocity_[l].segment(offset, w.size());
    if (nesterov_) {
      // g + μ v = g + μ (μ v_old + g): the velocity first, then the gradient again.
      v = momentum_ * v + (g + weight_decay_ * w);
      w -= rate * ((g + weight_decay_ * w) + momentum_ * v);
    } else {
      v = momentum_ * v + (g + weight_decay_ * w);
      w -= rate * v;
    }
  });
}

std::vector<float> Sgd::state() const {
  std::vector<float> numbers;
  append_state(velocity_, numbers);
  return numbers;
}

void Sgd::set_state(std::span<const float> numbers) {
  if (!take_state(numbers, velocity_).empty()) throw std::logic_error("the state of another optimizer");
}

double Sgd::floats_per_parameter(const spec::OptimizerSpec& spec) {
  return spec.momentum != 0 ? 5 : 3;  // w, g (and v) read; w (and v) written
}

double Sgd::flops_per_parameter(const spec::OptimizerSpec& spec) {
  const double decay = spec.weight_decay != 0 ? 2 : 0;
  const double velocity = spec.momentum != 0 ? (spec.nesterov ? 4 : 2) : 0;
  return 2 + decay + velocity;
}

}  // namespace dadsim::models
