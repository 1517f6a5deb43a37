#include "spec/device_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace dadsim::spec {
namespace {

constexpr std::int64_t kVocabularyMultiple = 128;

std::int64_t divided(const LayerShape& layer, const char* what, std::int64_t number, std::int32_t tensor) {
  if (number % tensor == 0) return number / tensor;
  throw std::invalid_argument(
      fmt::format("'{}' has {} {}, which {} devices cannot share equally", layer.name, number, what, tensor));
}

/// Scales the sizes of the layer's outputs, but not its parameters.
void scale_outputs(LayerShape& layer, double factor) {
  layer.outputs_per_sample *= factor;
  layer.scores_per_sample *= factor;
  layer.kept_beside_per_sample *= factor;
  layer.kept_bytes_per_sample *= factor;
}

void scale_macs(LayerShape& layer, double factor) {
  layer.forward_macs_per_sample *= factor;
  layer.frozen_macs_per_sample *= factor;
  layer.recomputed_macs_per_sample *= factor;
}

/// Recounts the parameters of a divided layer. The undivided side of an adapter is whole on each device.
void count_parameters(LayerShape& layer) {
  const std::int64_t own = layer.experts * (layer.in * layer.out + (layer.bias ? layer.out : 0));
  const std::int64_t adapter = layer.experts * layer.adapter_rank * (layer.in + layer.out);
  const bool frozen = layer.frozen > 0;
  layer.frozen = frozen ? own : 0;
  layer.parameters = frozen ? adapter : own;
}

LayerShape shard_of_entries(LayerShape layer, std::int32_t tensor) {
  const bool table = layer.kind == LayerKind::embedding;
  // A decoder with tied weights has no size of its own except its outputs.
  const std::int64_t entries =
      layer.out > 0 ? layer.out : static_cast<std::int64_t>(layer.outputs_per_sample) / layer.rows_per_sample;
  const std::int64_t multiple = kVocabularyMultiple * tensor;
  const std::int64_t own = (entries + multiple - 1) / multiple * multiple / tensor;
  if (!table) {
    const double factor = static_cast<double>(own) / static_cast<double>(entries);
    scale_outputs(layer, factor);
    scale_macs(layer, factor);
  }
  if (layer.frozen > 0) {
    layer.frozen = layer.frozen / entries * own;
    layer.out = layer.out > 0 ? own : 0;
  } else if (layer.out > 0) {
    const bool bias = !table && layer.bias;
    const std::int64_t beside = layer.parameters - layer.in * layer.out - (bias ? layer.out : 0);
    layer.out = own;
    layer.parameters = layer.in * own + (bias ? own : 0) + beside;
  } else if (layer.parameters > 0) {
    layer.parameters = own;
  }
  return layer;
}

}  // namespace

LayerShape sharded(const LayerShape& whole, std::int32_t tensor) {
  LayerShape layer = whole;
  if (tensor <= 1) return layer;
  const double share = 1.0 / tensor;
  if (layer.heads > 0) layer.heads = divided(whole, "heads", layer.heads, tensor);
  switch (layer.split) {
    case TensorSplit::whole:
      break;
    case TensorSplit::column:
      layer.out = divided(whole, "outputs", layer.out, tensor);
      count_parameters(layer);
      scale_outputs(layer, share);
      scale_macs(layer, share);
      break;
    case TensorSplit::row:
      layer.in = divided(whole, "inputs", layer.in, tensor);
      count_parameters(layer);
      layer.inputs_per_sample *= share;
      scale_macs(layer, share);
      break;
    case TensorSplit::heads:
      layer.inputs_per_sample *= share;
      scale_outputs(layer, share);
      scale_macs(layer, share);
      break;
    case TensorSplit::vocabulary:
      return shard_of_entries(std::move(layer), tensor);
  }
  return layer;
}

ModelShape sharded(const ModelShape& model, std::int32_t tensor) {
  ModelShape part{model.name, {}};
  for (const LayerShape& layer : model.layers) part.layers.push_back(sharded(layer, tensor));
  return part;
}

ModelShape with_divided_sequences(ModelShape model, std::int32_t context) {
  if (context <= 1) return model;
  if (std::ranges::none_of(model.layers, [](const LayerShape& layer) { return layer.kind == LayerKind::attention; }))
    throw std::invalid_argument("the workload has no attention, so no sequences to divide");
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
