#include "models/gradient_moments.hpp"

#include <cmath>
#include <stdexcept>

#include "models/parameter_blocks.hpp"

namespace dadsim::models {

GradientMoments::GradientMoments(const Network& network)
    : frozen_(network.layers()), first_(zeros_like_parameters(network)), second_(first_) {}

void GradientMoments::begin_step(const Gradient& gradient) {
  ++steps_;
  for (std::size_t l = 0; l < frozen_.size() && l < gradient.matrices.size(); ++l) {
    if (is_frozen(gradient.matrices[l])) ++frozen_[l];
  }
}

GradientMoments::MomentCorrection GradientMoments::correction(std::size_t l, const spec::OptimizerSpec& spec) const {
  const auto t = static_cast<double>(steps_ - (l < frozen_.size() ? frozen_[l] : 0));
  return {1 - std::pow(spec.beta1, t), 1 - std::pow(spec.beta2, t)};
}

std::vector<float> GradientMoments::state() const {
  std::vector<float> numbers = {static_cast<float>(steps_)};
  append_state(first_, numbers);
  append_state(second_, numbers);
  return numbers;
}

void GradientMoments::set_state(std::span<const float> numbers) {
  if (numbers.empty()) throw std::logic_error("the state belongs to another optimizer");
  steps_ = static_cast<std::int64_t>(numbers.front());
  if (!take_state(take_state(numbers.subspan(1), first_), second_).empty()) {
    throw std::logic_error("the state belongs to another optimizer");
  }
}

AdamStep MomentsOptimizer::adam_step(std::size_t l, double learning_rate) const {
  const auto [first, second] = moments_.correction(l, spec_);
  return {.beta1 = static_cast<float>(spec_.beta1),
          .rest1 = static_cast<float>(1 - spec_.beta1),
          .beta2 = static_cast<float>(spec_.beta2),
          .rest2 = static_cast<float>(1 - spec_.beta2),
          .rate = static_cast<float>(learning_rate / first),
          .scale = static_cast<float>(1 / std::sqrt(second)),
          .epsilon = static_cast<float>(spec_.epsilon),
          .decay = static_cast<float>(spec_.weight_decay),
          .keep = static_cast<float>(1 - learning_rate * spec_.weight_decay),
          .decoupled = spec_.kind != spec::OptimizerSpec::Kind::adam};
}

}  // namespace dadsim::models
