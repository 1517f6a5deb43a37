#include "spec/attention.hpp"

#include <algorithm>
#include <cmath>

namespace dadsim::spec {

ModelShape with_flash_attention(ModelShape model, FlashLibrary library) {
  constexpr double kFloat = 4;            // bytes of fp32
  constexpr double kOperands = 3;         // operands: queries, keys and values
  constexpr double kProductsOfTwo = 0.5;  // share of the scores' products: Q·Kᵀ alone is recomputed
  for (LayerShape& layer : model.layers) {
    if (layer.kind != LayerKind::attention || !(layer.scores_per_sample > 0)) continue;
    const double tokens = std::sqrt(layer.scores_per_sample / static_cast<double>(layer.heads));
    layer.library = library;
    layer.outputs_per_sample -= layer.scores_per_sample;
    // Plain attention is counted with its scores as inputs, flash attention with its operands. The minimum covers
    // sequences so short that there are fewer scores than operands.
    layer.inputs_per_sample = std::min(kOperands * layer.outputs_per_sample, layer.scores_per_sample);
    layer.scores_per_sample = 0;
    layer.kept_beside_per_sample = 0;
    layer.kept_bytes_per_sample = kFloat * static_cast<double>(layer.heads) * tokens;
    if (layer.keys_seen > 0) {
      layer.forward_macs_per_sample *= layer.keys_seen / tokens;
    } else if (layer.causal) {
      layer.forward_macs_per_sample /= 2;
    }
    layer.recomputed_macs_per_sample = kProductsOfTwo * layer.forward_macs_per_sample;
  }
  return model;
}

}  // namespace dadsim::spec
