#include "plan/layer_shape.hpp"

#include <utility>

namespace dadsim {

LayerShape dense_shape(std::string name, std::int64_t in, std::int64_t out, bool bias) {
  LayerShape shape;
  shape.name = std::move(name);
  shape.kind = LayerKind::dense;
  shape.in = in;
  shape.out = out;
  shape.bias = bias;
  shape.parameters = in * out + (bias ? out : 0);
  shape.forward_macs_per_sample = static_cast<double>(in * out);
  shape.outputs_per_sample = static_cast<double>(out);
  return shape;
}

std::int64_t ModelShape::parameters() const {
  std::int64_t sum = 0;
  for (const LayerShape& layer : layers) sum += layer.parameters;
  return sum;
}

double ModelShape::forward_macs_per_sample() const {
  double sum = 0;
  for (const LayerShape& layer : layers) sum += layer.forward_macs_per_sample;
  return sum;
}

}  // namespace dadsim
