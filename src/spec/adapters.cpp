#include "spec/adapters.hpp"

#include <stdexcept>
#include <string_view>

#include "spec/stages.hpp"

namespace dadsim::spec {
namespace {

bool is_of_attention(std::string_view layer) {
  for (const std::string_view part : {"query", "key", "value", "qkv", "projection", "latent", "key_value"}) {
    if (layer.starts_with(part)) return true;
  }
  return false;
}

bool has_adapter(const LayerShape& layer, Adapted adapted) {
  const std::string_view block = block_of(layer.name);
  if (layer.kind != LayerKind::dense || block.empty() || layer.in == 0 || layer.out == 0 || layer.is_tied())
    return false;
  const std::string_view name = std::string_view(layer.name).substr(block.size());
  if (name.find("router") != std::string_view::npos) return false;
  return adapted == Adapted::all || is_of_attention(name);
}

}  // namespace

ModelShape with_adapters(ModelShape model, std::int64_t rank, Adapted adapted) {
  bool any = false;
  for (LayerShape& layer : model.layers) {
    const bool adapts = has_adapter(layer, adapted);
    any |= adapts;
    layer.frozen = layer.parameters;
    layer.parameters = 0;
    layer.frozen_macs_per_sample =
        layer.kind == LayerKind::dense || layer.kind == LayerKind::convolution ? layer.forward_macs_per_sample : 0;
    layer.delta_follows = false;
    if (!adapts) continue;
    layer.adapter_rank = rank;
    layer.parameters = layer.experts * rank * (layer.in + layer.out);
    layer.forward_macs_per_sample +=
        static_cast<double>(layer.rows_per_sample) * static_cast<double>(rank * (layer.in + layer.out));
    layer.kept_beside_per_sample += static_cast<double>(layer.rows_per_sample * rank);
  }
  if (!any) throw std::invalid_argument("the workload has no matrices in blocks for adapters");
  return model;
}

}  // namespace dadsim::spec
