#include "spec/layer_shape.hpp"

#include <stdexcept>
#include <utility>

namespace dadsim::spec {

const char* to_string(LayerKind kind) {
  switch (kind) {
    case LayerKind::dense:
      return "dense";
    case LayerKind::convolution:
      return "convolution";
    case LayerKind::attention:
      return "attention";
    case LayerKind::recurrence:
      return "recurrence";
    case LayerKind::embedding:
      return "embedding";
    case LayerKind::normalisation:
      return "normalisation";
    case LayerKind::element_wise:
      return "element-wise";
  }
  throw std::logic_error("unknown kind of layer");
}

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

double LayerShape::inputs() const {
  return inputs_per_sample > 0 ? inputs_per_sample : static_cast<double>(rows_per_sample) * static_cast<double>(in);
}

double LayerShape::overlap() const {
  return inputs_per_sample > 0 ? static_cast<double>(rows_per_sample) * static_cast<double>(in) / inputs_per_sample
                               : 1.0;
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

}  // namespace dadsim::spec
