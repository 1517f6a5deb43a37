#include "spec/payload_specification.hpp"

#include <algorithm>
#include <cmath>

namespace dadsim::spec {

ModelShape payload_shape(double bytes) {
  constexpr double kFloat = 4;
  constexpr std::int64_t kWidth = 1024;
  const std::int64_t numbers = std::max<std::int64_t>(1, std::llround(bytes / kFloat));
  LayerShape layer{.name = "payload"};
  layer.in = std::min(kWidth, numbers);
  layer.out = numbers / layer.in;
  layer.parameters = numbers;
  return {.name = "a payload", .layers = {layer}};
}

double saved_beside_parameters(const ModelShape& shape) {
  const auto has = [&](LayerKind kind) {
    return std::ranges::any_of(shape.layers, [&](const LayerShape& layer) { return layer.kind == kind; });
  };
  const bool batch_norms = has(LayerKind::convolution) && !has(LayerKind::attention);
  double numbers = 0;
  for (const LayerShape& layer : shape.layers) {
    // In learning networks, the layer name states the kind of norm.
    const auto is_named = [&](std::string_view norm) { return layer.name.find(norm) != std::string::npos; };
    if (layer.kind == LayerKind::normalisation && !is_named("layer-norm") && (batch_norms || is_named("batch-norm")))
      numbers += static_cast<double>(layer.parameters);
    // A decoder with tied weights still multiplies by the table: width × entries per row.
    if (layer.is_tied() && layer.rows_per_sample > 0)
      numbers += layer.forward_macs_per_sample / static_cast<double>(layer.rows_per_sample);
  }
  return numbers;
}

}  // namespace dadsim::spec
