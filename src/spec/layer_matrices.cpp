#include "spec/layer_matrices.hpp"

#include <algorithm>
#include <cmath>

namespace dadsim::spec {
namespace {

LayerShape part_of(const LayerShape& layer, std::int64_t in, std::int64_t out, double share) {
  LayerShape one = layer;
  one.in = in;
  one.out = out;
  one.experts = one.experts_per_token = 1;
  one.adapter_rank = one.frozen = 0;
  one.parameters = std::llround(static_cast<double>(layer.parameters) * share);
  one.rows_per_sample = std::max<std::int64_t>(
      1, std::llround(static_cast<double>(layer.rows_per_sample) / static_cast<double>(layer.experts)));
  for (double* amount :
       {&one.forward_macs_per_sample, &one.frozen_macs_per_sample, &one.recomputed_macs_per_sample,
        &one.outputs_per_sample, &one.inputs_per_sample, &one.kept_beside_per_sample, &one.kept_bytes_per_sample})
    *amount *= share;
  return one;
}

}  // namespace

bool has_other_matrices(const LayerShape& layer) { return layer.experts > 1 || layer.frozen > 0; }

std::vector<EqualMatrices> matrices_of(const LayerShape& layer) {
  if (layer.frozen > 0 && layer.parameters == 0) return {};
  const auto experts = static_cast<double>(layer.experts);
  if (layer.adapter_rank == 0) return {{part_of(layer, layer.in, layer.out, 1 / experts), experts}};
  const double in = static_cast<double>(layer.in) / static_cast<double>(layer.in + layer.out);
  return {{part_of(layer, layer.in, layer.adapter_rank, in / experts), experts},
          {part_of(layer, layer.adapter_rank, layer.out, (1 - in) / experts), experts}};
}

}  // namespace dadsim::spec
