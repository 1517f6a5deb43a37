#include "models/clipped.hpp"

#include <cmath>

namespace dadsim::models {

double norm_of(const Gradient& gradient) {
  double sum = 0;
  for (const LayerGradient& layer : gradient.matrices) {
    if (layer.weight.size() > 0 && !layer.is_direction) sum += layer.weight.cast<double>().squaredNorm();
    if (layer.bias.size() > 0) sum += layer.bias.cast<double>().squaredNorm();
  }
  for (const Vector& vector : gradient.vectors) sum += vector.cast<double>().squaredNorm();
  return std::sqrt(sum);
}

void Clipped::update(Network& network, const Gradient& gradient, double learning_rate) {
  const double norm = norm_of(gradient);
  // A NaN norm is passed on unchanged, so that learning diverges as without a limit.
  if (!(norm > largest_) || !std::isfinite(norm)) {
    inner_->update(network, gradient, learning_rate);
    return;
  }
  const auto factor = static_cast<float>(largest_ / norm);
  Gradient clipped = gradient;
  for (LayerGradient& layer : clipped.matrices) {
    if (!layer.is_direction) layer.weight *= factor;
    layer.bias *= factor;
  }
  for (Vector& vector : clipped.vectors) vector *= factor;
  inner_->update(network, clipped, learning_rate);
}

}  // namespace dadsim::models
