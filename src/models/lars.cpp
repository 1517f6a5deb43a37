#include "models/lars.hpp"

#include "models/parameter_blocks.hpp"

namespace dadsim::models {

Lars::Lars(const spec::OptimizerSpec& spec, const Network& network) : spec_(spec) {
  if (spec.momentum != 0) velocity_ = zeros_like_parameters(network);
}

void Lars::update(Network& network, const Gradient& gradient, double learning_rate) {
  const auto momentum = static_cast<float>(spec_.momentum);
  const auto decay = static_cast<float>(spec_.weight_decay);
  for_parameter_tensors(network, gradient, [&](std::size_t l, Eigen::Index offset, auto w, auto g) {
    const double weights = norm_of(w);
    const double gradients = norm_of(g);
    // The paper's trust coefficient is part of the ratio, which is 1 if there is nothing to compare.
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

std::vector<float> Lars::state() const {
  std::vector<float> numbers;
  append_state(velocity_, numbers);
  return numbers;
}

void Lars::set_state(std::span<const float> numbers) {
  if (!take_state(numbers, velocity_).empty()) throw std::logic_error("the state of another optimizer");
}

double Lars::floats_per_parameter(const spec::OptimizerSpec& spec) { return spec.momentum != 0 ? 7 : 5; }

double Lars::flops_per_parameter(const spec::OptimizerSpec& spec) {
  // Two norms of 2 each, rate, −.
  const double decay = spec.weight_decay != 0 ? 2 : 0;
  return 6 + decay + (spec.momentum != 0 ? 2 : 0);
}

}  // namespace dadsim::models
