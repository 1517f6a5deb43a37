#pragma once

#include <string>
#include <vector>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// A transformer block with a norm before each half, one matrix for queries, keys and values, biases and a plain MLP
/// with a GELU, as in ViT and GPT-2.
struct BlockForm {
  std::int64_t tokens = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t between = 0;  ///< width between the MLP's layers
  bool causal = false;
};
/// Adds the block's layers, with names that begin with `block`.
void add_transformer_block(std::vector<LayerShape>& layers, const std::string& block, const BlockForm& form);

}  // namespace dadsim::spec
