#include "spec/workloads/blocks.hpp"

#include "spec/workloads/layers.hpp"

namespace dadsim::spec {

void add_transformer_block(std::vector<LayerShape>& layers, const std::string& block, const BlockForm& form) {
  const std::int64_t tokens = form.tokens;
  const std::int64_t width = form.width;
  layers.push_back(normalisation_shape(block + "norm1", tokens, width));
  layers.push_back(by_columns(token_dense_shape(block + "qkv", tokens, width, 3 * width), form.heads));
  layers.push_back(attention_shape(block + "attention", tokens, width, form.heads, {.causal = form.causal}));
  layers.push_back(by_rows(token_dense_shape(block + "projection", tokens, width, width)));
  layers.push_back(normalisation_shape(block + "norm2", tokens, width));
  layers.push_back(with_gelu(by_columns(token_dense_shape(block + "mlp1", tokens, width, form.between))));
  layers.back().delta_follows = true;  // only GELU lies between them
  layers.push_back(by_rows(token_dense_shape(block + "mlp2", tokens, form.between, width)));
}

}  // namespace dadsim::spec
