#pragma once

#include <vector>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// `count` equal matrices of a layer. The shape of one has an equal part of the layer's rows, products and parameters.
struct EqualMatrices {
  LayerShape one;
  double count = 1;
};

/// Returns whether a layer differs from its learned matrices: it has experts or an adapter, or is frozen.
bool has_other_matrices(const LayerShape& layer);

/// Returns the learned matrices of a layer: each expert's, with adapters the two of each, and none if it is frozen. A
/// router that sends rows to all experts equally often gives an expert rows_per_sample ÷ experts, rounded, and at least
/// one.
std::vector<EqualMatrices> matrices_of(const LayerShape& layer);

}  // namespace dadsim::spec
