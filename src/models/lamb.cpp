#include "models/lamb.hpp"

#include <algorithm>
#include <cmath>

#include "models/kernels/root.hpp"
#include "models/parameter_blocks.hpp"

namespace dadsim::models {

Lamb::Lamb(const spec::OptimizerSpec& spec, const Network& network) : spec_(spec), moments_(network) {}

void Lamb::update(Network& network, const Gradient& gradient, double learning_rate) {
  moments_.begin_step(gradient);
  const auto beta1 = static_cast<float>(spec_.beta1);
  const auto beta2 = static_cast<float>(spec_.beta2);
  const auto rest1 = static_cast<float>(1 - spec_.beta1);
  const auto rest2 = static_cast<float>(1 - spec_.beta2);
  const auto epsilon = static_cast<float>(spec_.epsilon);
  const auto decay = static_cast<float>(spec_.weight_decay);
  for_parameter_tensors(network, gradient, [&](std::size_t l, Eigen::Index offset, auto w, auto g) {
    const GradientMoments::MomentCorrection corrected = moments_.correction(l, spec_);
    auto m = moments_.first(l).segment(offset, w.size());
    auto v = moments_.second(l).segment(offset, w.size());
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * g.square();
    const auto first = static_cast<float>(1 / corrected.first);
    const auto second = static_cast<float>(1 / std::sqrt(corrected.second));
    const Eigen::ArrayXf step = first * m / (second * roots_of(v) + epsilon) + decay * w;
    w -= static_cast<float>(learning_rate * trust_ratio(norm_of(w), norm_of(step))) * step;
  });
}

double Lamb::flops_per_parameter(const spec::OptimizerSpec& spec) {
  // m: 3, v: 4, u: two scales, root, + ε, ÷; two norms of 2 each; rate, −.
  const double decay = spec.weight_decay == 0 ? 0 : 2;
  return 18 + decay;
}

}  // namespace dadsim::models
