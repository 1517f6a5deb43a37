#include "models/adam.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/kernels/array_kernels.hpp"
#include "models/parameter_blocks.hpp"

namespace dadsim::models {

Adam::Adam(const spec::OptimizerSpec& spec, const Network& network) : spec_(spec), moments_(network) {}

void Adam::update(Network& network, const Gradient& gradient, double learning_rate) {
  moments_.begin_step(gradient);
  const auto beta1 = static_cast<float>(spec_.beta1);
  const auto beta2 = static_cast<float>(spec_.beta2);
  const auto rest1 = static_cast<float>(1 - spec_.beta1);
  const auto rest2 = static_cast<float>(1 - spec_.beta2);
  std::vector<std::pair<float, float>> corrected;  // per matrix, and last for all vectors: η/(1 − β₁ᵗ), 1/√(1 − β₂ᵗ)
  for (std::size_t l = 0; l <= moments_.matrices(); ++l) {
    const auto [first, second] = moments_.correction(l, spec_);
    corrected.emplace_back(static_cast<float>(learning_rate / first), static_cast<float>(1 / std::sqrt(second)));
  }
  const auto epsilon = static_cast<float>(spec_.epsilon);
  const auto decay = static_cast<float>(spec_.weight_decay);
  const bool decoupled = spec_.kind == spec::OptimizerSpec::Kind::adamw;
  const auto keep = static_cast<float>(1 - learning_rate * spec_.weight_decay);

  for_parameter_blocks(network, gradient, [&](std::size_t l, Eigen::Index offset, auto weights, auto value_gradients) {
    const auto [rate, scale] = corrected[std::min(l, moments_.matrices())];
    const AdamStep step{.beta1 = beta1,
                        .rest1 = rest1,
                        .beta2 = beta2,
                        .rest2 = rest2,
                        .rate = rate,
                        .scale = scale,
                        .epsilon = epsilon,
                        .decay = decay,
                        .keep = keep,
                        .decoupled = decoupled};
    array_kernels().adam(step, weights.size(), weights.data(), value_gradients.data(),
                         moments_.first(l).data() + offset, moments_.second(l).data() + offset);
  });
}

double Adam::flops_per_parameter(const spec::OptimizerSpec& spec) {
  // m: 3, v: 4, step: root, scale, + ε, rate, ÷, −.
  const double decay = spec.weight_decay == 0 ? 0 : (spec.kind == spec::OptimizerSpec::Kind::adamw ? 1 : 2);
  return 13 + decay;
}

}  // namespace dadsim::models
