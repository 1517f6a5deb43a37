#include "spec/context_parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace dadsim::spec {

ModelShape with_divided_sequences(ModelShape model, std::int32_t context) {
  if (context <= 1) return model;
  if (std::ranges::none_of(model.layers, [](const LayerShape& layer) { return layer.kind == LayerKind::attention; }))
    throw std::invalid_argument("it has no attention, and no sequences to divide");
  const double share = 1.0 / context;
  for (LayerShape& layer : model.layers) {
    if (layer.in > 0 || layer.kind == LayerKind::attention) {
      if (layer.rows_per_sample % context != 0)
        throw std::invalid_argument(fmt::format("'{}' has {} rows per sample, which {} devices cannot share equally",
                                                layer.name, layer.rows_per_sample, context));
      layer.rows_per_sample /= context;
    }
    layer.forward_macs_per_sample *= share;
    layer.frozen_macs_per_sample *= share;
    layer.recomputed_macs_per_sample *= share;
    layer.outputs_per_sample *= share;
    layer.inputs_per_sample *= share;
    layer.scores_per_sample *= share;
    layer.kept_beside_per_sample *= share;
    layer.kept_bytes_per_sample *= share;
  }
  return model;
}

}  // namespace dadsim::spec
