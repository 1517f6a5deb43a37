#include "models/lamb.hpp"

#include <algorithm>
#include <cmath>

#include "models/parameter_blocks.hpp"

namespace dadsim::models {

Lamb::Lamb(const spec::OptimizerSpec& spec, const Network& network)
    : spec_(spec),
      stayed_(network.layers()),
      first_moment_(zeros_like_parameters(network)),
      second_moment_(first_moment_) {}

void Lamb::update(Network& network, const Gradient& gradient, double learning_rate) {
  ++steps_;
  for (std::size_t l = 0; l < stayed_.size() && l < gradient.matrices.size(); ++l) {
    if (stays(gradient.matrices[l])) ++stayed_[l];
  }
  const auto beta1 = static_cast<float>(spec_.beta1);
  const auto beta2 = static_cast<float>(spec_.beta2);
  const auto rest1 = static_cast<float>(1 - spec_.beta1);
  const auto rest2 = static_cast<float>(1 - spec_.beta2);
  const auto epsilon = static_cast<float>(spec_.epsilon);
  const auto decay = static_cast<float>(spec_.weight_decay);
  for_parameter_tensors(network, gradient, [&](std::size_t l, Eigen::Index offset, auto w, auto g) {
    const auto t = static_cast<double>(steps_ - (l < stayed_.size() ? stayed_[l] : 0));
    auto m = first_moment_[l].segment(offset, w.size());
    auto v = second_moment_[l].segment(offset, w.size());
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * g.square();
    const auto first = static_cast<float>(1 / (1 - std::pow(spec_.beta1, t)));
    const auto second = static_cast<float>(1 / std::sqrt(1 - std::pow(spec_.beta2, t)));
    const Eigen::ArrayXf step = first * m / (second * v.sqrt() + epsilon) + decay * w;
    w -= static_cast<float>(learning_rate * trust_ratio(norm_of(w), norm_of(step))) * step;
  });
}

std::vector<float> Lamb::state() const {
  std::vector<float> numbers = {static_cast<float>(steps_)};
  append_state(first_moment_, numbers);
  append_state(second_moment_, numbers);
  return numbers;
}

void Lamb::set_state(std::span<const float> numbers) {
  if (numbers.empty()) throw std::logic_error("the state of another optimizer");
  steps_ = static_cast<std::int64_t>(numbers.front());
  if (!take_state(take_state(numbers.subspan(1), first_moment_), second_moment_).empty()) {
    throw std::logic_error("the state of another optimizer");
  }
}

double Lamb::flops_per_parameter(const spec::OptimizerSpec& spec) {
  // m: 3, v: 4, u: two scales, root, + ε, ÷; two norms of 2 each; rate, −.
  const double decay = spec.weight_decay == 0 ? 0 : 2;
  return 18 + decay;
}

}  // namespace dadsim::models
