#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "spec/layer_shape.hpp"
#include "step/step_recorder.hpp"

namespace dadsim::algorithms {

/// Layers of a network, in the numbering that recorded groups of operations use.
struct GroupedLayers {
  explicit GroupedLayers(const spec::ModelShape& shape) : all(spec::all_as_one(shape, true)) {
    for (std::size_t i = 0; i < shape.layers.size(); ++i) {
      const spec::LayerShape& layer = shape.layers[i];
      deltas.emplace(&layer, spec::delta_relations(shape, i));
      if (layer.has_outer_product()) outer_products.push_back(&layer);
      if (layer.has_matrix()) matrices.push_back(&layer);
    }
  }

  /// Returns the layer of the current group.
  const spec::LayerShape& at(const step::StepRecorder& recorder) const {
    const std::int32_t index = recorder.layer();
    if (index < 0) return recorder.over() == step::Over::all_layers ? all : *outer_products.back();
    return *(recorder.over_embeddings() ? matrices : outer_products).at(static_cast<std::size_t>(index));
  }

  /// Returns the relations of a layer; empty for all layers as one.
  spec::DeltaRelations deltas_of(const spec::LayerShape& layer) const {
    const auto found = deltas.find(&layer);
    return found == deltas.end() ? spec::DeltaRelations{} : found->second;
  }

  std::vector<const spec::LayerShape*> outer_products, matrices;   ///< layers without embeddings; layers with
                                                                   ///< embeddings
  spec::LayerShape all;                                            ///< all layers, including tables, as one
  std::map<const spec::LayerShape*, spec::DeltaRelations> deltas;  ///< relations of the layers of the network
};

}  // namespace dadsim::algorithms
