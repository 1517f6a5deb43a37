#include "spec/layer_shape.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace dadsim::spec {

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
  return inputs_per_sample > 0 && in > 0
             ? static_cast<double>(rows_per_sample) * static_cast<double>(in) / inputs_per_sample
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

LayerShape all_as_one(const ModelShape& model, bool embeddings) {
  LayerShape all;
  all.name = "all layers";
  all.kind = LayerKind::element_wise;
  for (const LayerShape& layer : model.layers) {
    if (layer.has_outer_product() || layer.adapter_rank > 0) all.parameters += layer.parameters;
    if (embeddings && layer.kind == LayerKind::embedding && layer.has_matrix()) all.parameters += layer.in * layer.out;
  }
  return all;
}

DeltaRelations delta_relations(const ModelShape& model, std::size_t position) {
  DeltaRelations relations;
  const LayerShape& here = model.layers[position];
  const std::span earlier = std::span(model.layers).first(position);
  relations.needed_below = std::ranges::any_of(
      earlier, [](const LayerShape& below) { return below.parameters > 0 && !below.delta_follows; });
  const std::span later = std::span(model.layers).subspan(position + 1);
  relations.last_matrix = here.has_outer_product() && std::ranges::none_of(later, &LayerShape::has_outer_product);
  const bool ends = relations.last_matrix && std::ranges::none_of(later, &LayerShape::is_tied);
  const bool begins = std::ranges::none_of(earlier, &LayerShape::has_outer_product);
  relations.hidden_matrix = here.has_outer_product() && !ends && !(begins && here.kind == LayerKind::convolution);
  relations.follows_below = position > 0 && model.layers[position - 1].delta_follows;
  return relations;
}

std::vector<bool> hidden_matrices(const ModelShape& model) {
  std::vector<bool> hidden;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (model.layers[i].has_matrix()) hidden.push_back(delta_relations(model, i).hidden_matrix);
  }
  return hidden;
}

}  // namespace dadsim::spec
