#include <utility>

#include "spec/presets/presets.hpp"

namespace dadsim::spec {
namespace {

void append_branch(std::vector<LayerSpec> branch, double dropout, std::vector<LayerSpec>& layers) {
  if (dropout > 0) branch.push_back(DropoutSpec{dropout});
  layers.push_back(ResidualSpec{.layers = std::move(branch), .shortcut = {}, .activation = Activation::identity});
}

}  // namespace

void append_block(const TransformerBlock& block, std::vector<LayerSpec>& layers) {
  append_branch({LayerNormSpec{}, AttentionSpec{.heads = block.heads, .causal = block.causal}}, block.dropout, layers);
  append_branch(
      {LayerNormSpec{},
       DenseSpec{.units = block.hidden, .activation = Activation::gelu, .bias = true, .each_position = true},
       DenseSpec{.units = block.width, .activation = Activation::identity, .bias = true, .each_position = true}},
      block.dropout, layers);
}

}  // namespace dadsim::spec
