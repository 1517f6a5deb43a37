#pragma once

#include <vector>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// `count` equal matrices of a layer. `shape` describes one: an equal part of the layer's rows, products and
/// parameters.
struct EqualMatrices {
  LayerShape one;
  double count = 1;
};

/// Returns whether the learned matrices of a layer differ from the layer itself: it has experts or an adapter, or is
/// frozen.
bool has_other_matrices(const LayerShape& layer);

/// Returns the learned matrices of a layer: one per expert, or two per adapter; none if the layer is frozen and has no
/// adapter. With equal use of all experts, an expert has rows_per_sample ÷ experts rows, rounded, but at least one.
std::vector<EqualMatrices> matrices_of(const LayerShape& layer);

}  // namespace dadsim::spec
